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

type model struct {
	app    *workload.Application
	types  []typeModel // by name
	noise  noise
	phiOff deviation
	effOff deviation // at measured batch sizes
}

type typeModel struct {
	gpuType  cluster.GPUType
	localMax int
	params   perf.Params
	stepOff  deviation // on fitted configurations
	allOff   deviation // on all placements
}

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

type layout struct {
	perNode int
	nodes   int // most whole nodes
	partial int // nodes with any number of GPUs
}

// layouts are by GPU type. Source: README of the shared profiles.
var layouts = map[cluster.GPUType]layout{
	"t4":   {perNode: 4, nodes: 16, partial: 4},
	"rtx":  {perNode: 8, nodes: 3, partial: 2},
	"a100": {perNode: 8, nodes: 2, partial: 2},
	"quad": {perNode: 4, nodes: 1, partial: 1},
	"v100": {perNode: 8, nodes: 5, partial: 2},
}

const pipelineNodes = 16

// configurations returns powers of two within a node, or whole nodes. Source: Sia §3.3.3.
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
				continue // gradient not measured
			}
			got, start := m.noise.scale(e, b), float64(app.Batch.Init)
			m.phiOff.add(got, want)
			m.effOff.add(perf.Efficiency(got, start, b), perf.Efficiency(want, start, b))
		}
	}
	return m
}

func phi(app *workload.Application, batch, epoch int) float64 {
	return float64(app.Batch.Init) * app.Curve.Var[batch][epoch] / app.Curve.Sqr[batch][epoch]
}

// preference is the weight of Sia's configurations, because others are far more.
const preference = 4

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

func (t *typeModel) deviation(obs []perf.Observation) deviation {
	var d deviation
	for i := range obs {
		o := &obs[i]
		d.add(t.params.Step(o.Nodes, o.Replicas, float64(o.Local)), o.Step)
	}
	return d
}

// observe returns measurements on placements, at local batch sizes a factor √2 apart. Compute time is of one
// replica alone; the rest of a pass is exchange. (Some machines slow down as a node fills; the model has no term
// for it.)
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

func round(p *perf.Params) {
	for _, v := range []*float64{&p.AlphaC, &p.BetaC, &p.AlphaN, &p.BetaN, &p.AlphaR, &p.BetaR, &p.Gamma} {
		*v = digits(*v, 6)
	}
}

func digits(v float64, n int) float64 {
	if v == 0 {
		return 0
	}
	unit := math.Pow(10, float64(n-1)-math.Floor(math.Log10(math.Abs(v))))
	return math.Round(v*unit) / unit
}
