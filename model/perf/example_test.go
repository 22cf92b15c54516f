package perf_test

import (
	"fmt"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
)

// The more GPUs a job gets, the larger the total batch that serves it best, and
// the less each further GPU adds.
func ExampleBestBatch() {
	model := &fitted{
		Params: perf.Params{AlphaC: 0.05, BetaC: 0.002, AlphaN: 0.1, BetaN: 0.002, AlphaR: 0.02, BetaR: 0.001, Gamma: 1.5},
		phi:    1000, init: 128,
	}
	limits := &job.BatchLimits{Init: 128, Max: 4096, LocalMax: map[cluster.GPUType]int{"t4": 256}}
	for _, a := range []cluster.Allocation{on(1, 1, "t4"), on(1, 4, "t4"), on(2, 8, "t4"), on(4, 16, "t4")} {
		goodput, b := perf.BestBatch(model, a, a.GPUs, limits)
		fmt.Printf("%v: %.0f samples/s with %d passes of %d\n", a.Configuration, goodput, b.Accumulation+1, b.Local)
	}
	// Output:
	// (1, 1, t4): 418 samples/s with 1 passes of 128
	// (1, 4, t4): 1274 samples/s with 1 passes of 87
	// (2, 8, t4): 1689 samples/s with 1 passes of 88
	// (4, 16, t4): 2338 samples/s with 1 passes of 72
}
