package estimate

import (
	"cmp"
	"math"
	"strconv"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// mostError bounds Options.Error. With it a third of the believed speeds are wrong by more than
// a factor of e^5, 150.
const mostError = 5

// Factor returns the factor by which the believed speed of a class's jobs on a
// configuration is wrong: exp(Error · N(0, 1)), drawn once for each class, GPU type and
// number of GPUs, and the same in every epoch and at every batch size. It is 1 if Error is
// 0. With it, a pass may seem to take less time on more GPUs, although perf.FloorBetween
// assumes that it does not. Source: BOA §6.4.
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
