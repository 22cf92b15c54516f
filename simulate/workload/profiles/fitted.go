package profiles

import (
	"maps"
	"math"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"

	"github.com/oxgang/oxgang/simulate/workload"
)

// Default returns the applications that are part of the program, fitted to the public profiles of Sia, Synergy and
// Gavel by internal/tools/fitcatalog. See docs/experiments/embedded-catalog.md for the errors.
func Default() workload.Catalog {
	c := workload.Catalog{}
	for i := range fittedApplications {
		app := fittedApplications[i].application()
		c[app.Name] = app
	}
	for i := range fedApplications {
		app := fedApplications[i].Application(measuredOn)
		c[app.Name] = app
	}
	for i := range fittedModels {
		for _, app := range fittedModels[i].applications() {
			c[app.Name] = app
		}
	}
	return c
}

type fittedApplication struct {
	name      string
	init, max int // total batch sizes
	localMin  int
	epochs    int     // of equal progress
	target    float64 // samples at init efficiency
	noise     noise
	types     []fittedType
}

type fittedType struct {
	gpuType  cluster.GPUType
	localMax int // samples per replica and pass
	params   perf.Params
}

func (f *fittedApplication) application() *workload.Application {
	known := constantsOf(f.name)
	app := &workload.Application{
		Name:         f.name,
		Batch:        job.BatchLimits{Init: f.init, Max: f.max, LocalMin: f.localMin, LocalMax: map[cluster.GPUType]int{}},
		RestartDelay: known.delay,
		StatedDelay:  known.delay,
		Slowdown:     1,
		Curve:        f.curve(),
	}
	speed := fitted{localMin: f.localMin}
	if p := known.pipeline; p != nil {
		speed.stages = p.stages
		app.GPUsPerReplica, app.MicroBatches = maps.Clone(p.stages), p.microBatches
	}
	for i := range f.types {
		t := f.types[i]
		app.Batch.LocalMax[t.gpuType] = t.localMax
		speed.types = append(speed.types, t)
	}
	app.Speed = &speed
	return app
}

func (f *fittedApplication) curve() *workload.Curve {
	c := &workload.Curve{Batches: slices.Clone(f.noise.batches)}
	for e := range f.epochs {
		c.Ends = append(c.Ends, f.target*float64(e+1)/float64(f.epochs))
	}
	for _, b := range c.Batches {
		sqr, vnc := make([]float64, f.epochs), make([]float64, f.epochs)
		for e := range vnc {
			sqr[e], vnc[e] = 1, f.noise.scale(e, b)/float64(f.init)
		}
		c.Sqr, c.Var = append(c.Sqr, sqr), append(c.Var, vnc)
	}
	return c
}

// A noise is the gradient noise scale phi (samples) by epoch and batch size b: ln phi = level + slope ·
// ln(b / smallest batch), where level and slope are linear between knots.
type noise struct {
	batches      []float64 // measured total batch sizes, ascending
	knots        []int     // epochs, ascending, first 0
	level, slope []float64 // at the knots
}

func (n *noise) scale(epoch int, batch float64) float64 {
	i, w := n.at(epoch)
	level, slope := n.level[i], n.slope[i]
	if w > 0 {
		level += w * (n.level[i+1] - level)
		slope += w * (n.slope[i+1] - slope)
	}
	return math.Exp(level + slope*math.Log(batch/n.batches[0]))
}

func (n *noise) at(epoch int) (i int, w float64) {
	i, found := slices.BinarySearch(n.knots, epoch)
	switch {
	case found:
		return i, 0
	case i == len(n.knots):
		return i - 1, 0
	}
	return i - 1, float64(epoch-n.knots[i-1]) / float64(n.knots[i]-n.knots[i-1])
}

type fitted struct {
	localMin int
	stages   map[cluster.GPUType]int // GPUs of one replica; nil: 1
	types    []fittedType
}

func (f *fitted) Step(g cluster.GPUType, shape []int, local int) (step, sync float64, ok bool) {
	t, nodes, replicas := f.find(g, shape)
	if t == nil || local < f.localMin || local > t.localMax {
		return 0, 0, false
	}
	step = t.params.Step(nodes, replicas, float64(local))
	return step, step - t.params.Compute(float64(local)), true
}

func (f *fitted) LocalRange(g cluster.GPUType, shape []int) (least, most int) {
	if t, _, _ := f.find(g, shape); t != nil {
		return f.localMin, t.localMax
	}
	return 0, 0
}

func (f *fitted) find(g cluster.GPUType, shape []int) (t *fittedType, nodes, replicas int) {
	for i := range f.types {
		if f.types[i].gpuType == g {
			t = &f.types[i]
		}
	}
	size := 1
	if f.stages != nil {
		size = max(1, f.stages[g])
	}
	gpus := 0
	for _, n := range shape {
		if n > 0 {
			nodes++
			gpus += n
		}
	}
	if gpus == 0 || !wholeReplicas(shape, size) {
		return nil, 0, 0
	}
	return t, nodes, gpus / size
}
