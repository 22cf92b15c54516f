package estimate

import (
	"cmp"
	"math"
	"strconv"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/job"
)

// mostError bounds Options.Error: a believed speed is then wrong by e^5, 150 times,
// in a third of the cases.
const mostError = 5

// Factor returns by what the believed speed of the jobs of a class on a configuration
// is made wrong: exp(Error · N(0, 1)), drawn once for each class, GPU type and number
// of GPUs, the same in every epoch and at every batch size. It is 1 without Error. More
// GPUs may then be believed to take less time for a pass, which perf.FloorBetween takes
// for granted that they do not. Source: BOA §6.4.
func (o *Options) Factor(class job.Class, c cluster.Configuration) float64 {
	if o.Error == 0 {
		return 1
	}
	return o.factor(string(class), c)
}

func (o *Options) factor(class string, c cluster.Configuration) float64 {
	name := "estimate-error/" + class + "/" + string(c.GPUType) + "/" + strconv.Itoa(c.GPUs)
	return math.Exp(o.Error * rng.Stream(o.Seed, name).NormFloat64())
}

// classOf names the class of a job; one without class is a class of its own.
func classOf(s *job.Spec) string { return cmp.Or(string(s.Class), string(s.ID)) }
