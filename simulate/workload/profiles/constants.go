package profiles

import (
	"time"

	"github.com/oxgang/oxgang/model/cluster"

	"github.com/oxgang/oxgang/simulate/workload"
)

type constants struct {
	delay    time.Duration           // from a restart decision to the first step
	stated   time.Duration           // the S_i of the public simulator's policy
	slowdown float64                 // the public simulator's divisor of true goodput
	localMax map[cluster.GPUType]int // largest requested local batch, if more was profiled
	pipeline *pipeline               // nil: data parallel
}

// knownConstants are constants by application. Source: Sia simulator; gpt_pmp: Sia §3.5.3.
var knownConstants = map[string]constants{
	"cifar10":     {delay: 50 * time.Second, stated: 30 * time.Second, slowdown: 1.8},
	"bert":        {delay: 120 * time.Second, stated: 120 * time.Second, slowdown: 1.2},
	"deepspeech2": {delay: 25 * time.Second, stated: 25 * time.Second, slowdown: 1.2, localMax: map[cluster.GPUType]int{"rtx": 57}},
	"yolov3":      {delay: 80 * time.Second, stated: 45 * time.Second, slowdown: 1.2},
	"imagenet":    {delay: 250 * time.Second, stated: 250 * time.Second, slowdown: 1.2},
	"ncf":         {delay: 15 * time.Second, stated: 30 * time.Second, slowdown: 1.5},
	"gpt_pmp": {
		delay: 30 * time.Second, stated: 30 * time.Second, slowdown: 1,
		pipeline: &pipeline{stages: map[cluster.GPUType]int{"rtx": 8, "a100": 2}, microBatches: 48},
	},
}

func constantsOf(application string) constants {
	if k, ok := knownConstants[application]; ok {
		return k
	}
	return constants{delay: workload.DefaultRestartDelay, stated: workload.DefaultRestartDelay, slowdown: 1}
}

// A pipeline describes a hybrid-parallel application: each replica has stages of one GPU each, which a
// pass feeds with micro-batches of one sample.
type pipeline struct {
	stages       map[cluster.GPUType]int
	microBatches int
}

// backward is the time of a backward over a forward computation. Source: Sia simulator.
const backward = 2

// passes turns one stage's forward time and gradient exchange into the single pass of a pipeline: m
// micro-batches on P stages compute for (m + P - 1) stage times, forward and backward, and then exchange
// gradients. Sources: Sia §3.5.3; GPipe §2.
//
// Only profiles of micro-batches of one sample are used.
func (p *pipeline) passes(s series, stages int) series {
	slots := float64(p.microBatches + stages - 1)
	compute := slots * (1 + backward) * s[0].step / s[0].local
	return series{{local: float64(p.microBatches), step: compute + s[0].sync, sync: s[0].sync}}
}

// AsPublished returns a copy of c with two rules of the public Sia simulator, to reproduce its results. Both contradict
// the simulator's own profiles:
//
//   - The true goodput of an application is divided by a constant (Application.Slowdown).
//   - Schedulers are given a restart overhead (Application.StatedDelay) that is wrong for some applications.
//
// The copy shares all other data with c, so modify neither.
func AsPublished(c workload.Catalog) workload.Catalog {
	published := workload.Catalog{}
	for name, app := range c {
		a, k := *app, constantsOf(name)
		a.Slowdown, a.StatedDelay = k.slowdown, k.stated
		published[name] = &a
	}
	return published
}
