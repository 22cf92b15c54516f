package main

import (
	"maps"
	"math"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/model/perf/estimate"
	"github.com/oxgang/oxgang/simulate/workload"
)

// A model is the parametric form of one application.
type model struct {
	app    *workload.Application
	types  []typeModel // by name
	noise  noise
	phiOff deviation // of the noise scale
	effOff deviation // of the efficiency at the batch size where it was measured
}

// A typeModel is the throughput model of one GPU type.
type typeModel struct {
	gpuType  cluster.GPUType
	localMax int
	params   perf.Params
	stepOff  deviation // on the configurations it was fitted to
	allOff   deviation // on all placements
}

// A deviation is how far a fit is from what was measured, relative to it.
type deviation struct {
	mean, max float64
	n         int
}

func (d *deviation) add(got, want float64) {
	off := math.Abs(got-want) / want
	d.n++
	d.mean += (off - d.mean) / float64(d.n)
	d.max = math.Max(d.max, off)
}

// A layout says how the machines of a GPU type were profiled.
type layout struct {
	perNode int // GPUs of a node
	nodes   int // most, all GPUs of each
	partial int // most nodes of which any number of GPUs was profiled
}

// layouts are the profiled machines. Source: README of the shared profiles.
var layouts = map[cluster.GPUType]layout{
	"t4":   {perNode: 4, nodes: 16, partial: 4},
	"rtx":  {perNode: 8, nodes: 3, partial: 2},
	"a100": {perNode: 8, nodes: 2, partial: 2},
	"quad": {perNode: 4, nodes: 1, partial: 1},
	"v100": {perNode: 8, nodes: 5, partial: 2},
}

// pipelineNodes is the most nodes of which pipelines were profiled.
const pipelineNodes = 16

// configurations returns the placements that Sia chooses from: a power of two
// of GPUs on a node, or whole nodes. Source: Sia §3.3.3.
func (l layout) configurations() [][]int {
	var all [][]int
	for gpus := 1; gpus < l.perNode; gpus *= 2 {
		all = append(all, []int{gpus})
	}
	for n := 1; n <= l.nodes; n++ {
		all = append(all, slices.Repeat([]int{l.perNode}, n))
	}
	return all
}

// placements returns all that was profiled on a layout, up to rotation.
func (l layout) placements() [][]int {
	var all, last [][]int
	for n := 1; n <= l.partial; n++ {
		next := [][]int{}
		for gpus := 1; gpus <= l.perNode; gpus++ {
			if n == 1 {
				next = append(next, []int{gpus})
			}
			for _, s := range last {
				if s[len(s)-1] <= gpus {
					next = append(next, append(slices.Clone(s), gpus))
				}
			}
		}
		all, last = append(all, next...), next
	}
	for n := l.partial + 1; n <= l.nodes; n++ {
		all = append(all, slices.Repeat([]int{l.perNode}, n))
	}
	return all
}

// fit returns the parametric form of an application.
func fit(app *workload.Application) model {
	m := model{app: app}
	for _, g := range slices.Sorted(maps.Keys(app.Batch.LocalMax)) {
		m.types = append(m.types, fitType(app, g))
	}
	m.noise = fitNoise(app.Curve, float64(app.Batch.Init))
	for i, b := range app.Curve.Batches {
		for e := range app.Curve.Ends {
			want := phi(app, i, e)
			if math.IsInf(want, 1) {
				continue // the squared norm of the gradient was not measurable
			}
			got, start := m.noise.scale(e, b), float64(app.Batch.Init)
			m.phiOff.add(got, want)
			m.effOff.add(perf.Efficiency(got, start, b), perf.Efficiency(want, start, b))
		}
	}
	return m
}

// phi returns the noise scale measured in an epoch at a batch size, in samples.
func phi(app *workload.Application, batch, epoch int) float64 {
	return float64(app.Batch.Init) * app.Curve.Var[batch][epoch] / app.Curve.Sqr[batch][epoch]
}

// preference is how many times the configurations that Sia chooses from count
// in a fit, where other placements count once: there are many more of those.
const preference = 4

// fitType fits the throughput model of an application on a GPU type.
func fitType(app *workload.Application, g cluster.GPUType) typeModel {
	l := layouts[g]
	if app.MicroBatches > 0 {
		l.nodes = pipelineNodes
	}
	t := typeModel{gpuType: g, localMax: app.Batch.LocalMax[g]}
	preferred, all := observe(app, g, l.configurations()), observe(app, g, l.placements())
	obs := all
	for range preference {
		obs = append(obs, preferred...)
	}
	t.params, _ = estimate.Fit(obs, nil)
	round(&t.params)
	t.stepOff, t.allOff = t.deviation(preferred), t.deviation(all)
	return t
}

// deviation returns how far the model is from observed step times.
func (t *typeModel) deviation(obs []perf.Observation) deviation {
	var d deviation
	for i := range obs {
		o := &obs[i]
		d.add(t.params.Step(o.Nodes, o.Replicas, float64(o.Local)), o.Step)
	}
	return d
}

// observe returns what was measured of an application on placements of a GPU
// type, at local batch sizes a factor of the square root of 2 apart. Compute
// time is that of one replica alone; what a pass takes longer counts as
// exchange. On some machines compute slows down as a node fills (input
// processing), for which the throughput model has no term.
func observe(app *workload.Application, g cluster.GPUType, shapes [][]int) []perf.Observation {
	size := max(1, app.GPUsPerReplica[g])
	alone := []int{size}
	var obs []perf.Observation
	for _, shape := range shapes {
		least, most := app.Speed.LocalRange(g, shape)
		for _, local := range ladder(least, most) {
			step, _, ok := app.Speed.Step(g, shape, local)
			one, exchange, same := app.Speed.Step(g, alone, local)
			if !ok || !same {
				continue
			}
			obs = append(obs, perf.Observation{Nodes: len(shape), Replicas: sum(shape) / size, Local: local, Compute: one - exchange, Step: step})
		}
	}
	return obs
}

// ladder returns least and most and what lies between them, a factor of about
// the square root of 2 apart; nothing if most is 0.
func ladder(least, most int) []int {
	var rungs []int
	for x := float64(least); most > 0 && int(math.Round(x)) < most; x *= math.Sqrt2 {
		rungs = append(rungs, int(math.Round(x)))
	}
	if most > 0 {
		rungs = append(rungs, most)
	}
	return slices.Compact(rungs)
}

func sum(shape []int) int {
	total := 0
	for _, n := range shape {
		total += n
	}
	return total
}

// round keeps six significant digits of each parameter: far more than the fit
// is good for.
func round(p *perf.Params) {
	for _, v := range []*float64{&p.AlphaC, &p.BetaC, &p.AlphaN, &p.BetaN, &p.AlphaR, &p.BetaR, &p.Gamma} {
		*v = digits(*v, 6)
	}
}

// digits returns v with n significant digits.
func digits(v float64, n int) float64 {
	if v == 0 {
		return 0
	}
	unit := math.Pow(10, float64(n-1)-math.Floor(math.Log10(math.Abs(v))))
	return math.Round(v*unit) / unit
}
