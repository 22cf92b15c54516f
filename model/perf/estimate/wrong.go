package estimate

import (
	"math"
	"strconv"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// mostError is the largest Options.Error: a third of the speeds are wrong by more than e^5 ≈ 150 times.
const mostError = 5

// Factor returns an artificial error for experiments, by which the estimated speed of a class is multiplied: exp(Error
// · N(0, 1)), drawn once per class, GPU type and number of GPUs. More GPUs may then seem faster per pass, although
// perf.FloorBetween assumes that they are not. Source: BOA §6.4.
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
