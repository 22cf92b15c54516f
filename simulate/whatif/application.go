package whatif

import (
	"cmp"
	"math"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/simulate/workload"
)

const endless = 1e18

type truth struct {
	spec  *job.Spec
	model perf.Model // nil: its speed is not known
	// believed is the scheduler's model; nil: it learns one from reports.
	believed perf.Model
	input    *perf.Sensitivity
	factor   float64                // true seconds of a pass over the model's seconds
	delay    time.Duration          // from a decision to the first step
	each     []time.Duration        // delay of each start; nil: delay for all
	profile  []workload.Measurement // measurements before training; nil: from the model
	target   float64                // samples; 0: it does not end
	pieces   []piece                // measured gradient statistics; nil: from the model
	// best: beyond what was measured, every sample counts in full. Otherwise statistics do not change.
	best bool
	done float64 // samples so far, with the statistics of the model if none were measured
}

func (t *truth) application(types []cluster.TypeInfo) *workload.Application {
	app := &workload.Application{
		Name: string(t.spec.ID), Batch: t.spec.Batch, GPUsPerReplica: t.spec.GPUsPerReplica, MicroBatches: t.spec.MicroBatches,
		RestartDelay: t.delay, Delays: t.each, Profile: t.profile, Slowdown: 1, Speed: speed{t.spec, t.model, t.factor}, Sensitivity: t.input,
	}
	if t.scheduled(app, types) {
		return app
	}
	app.Model, app.Epoch = "", 0
	app.Curve = t.curve()
	return app
}

// scheduled lets app follow the job's batch size schedule, if that is a list of regimes and the target can be
// divided into their epochs.
func (t *truth) scheduled(app *workload.Application, types []cluster.TypeInfo) bool {
	s := &t.spec.Schedule
	epochs := 0
	for _, r := range s.Regimes {
		epochs += r.Epochs
	}
	if s.Mode != job.Given || epochs == 0 || t.target <= 0 || t.target >= endless {
		return false
	}
	app.Model, app.Epoch = app.Name, int(math.Ceil(t.target/float64(epochs)))
	app.Batch.LocalMax = make(map[cluster.GPUType]int)
	for _, on := range types {
		if _, most := app.Speed.LocalRange(on.Type, []int{max(1, t.spec.GPUs)}); most > 0 {
			app.Batch.LocalMax[on.Type] = most
		}
	}
	regimes, err := app.Regimes(t.spec)
	return err == nil && regimes != nil
}

func (t *truth) curve() *workload.Curve {
	target := t.target
	if target <= 0 {
		target = endless
	}
	c := &workload.Curve{Batches: []float64{float64(max(1, t.spec.Batch.Init))}, Sqr: make([][]float64, 1), Var: make([][]float64, 1)}
	for i, p := range t.pieces {
		end := target
		if i+1 < len(t.pieces) {
			end = cmp.Or(p.end, (p.last+t.pieces[i+1].first)/2)
		}
		if end < target {
			extend(c, end, p.sqr, p.vari)
		}
	}
	sqr, vari, known := t.last()
	if t.best {
		extend(c, min(known, target), sqr, vari)
		sqr, vari = 0, 1 // an efficiency of 1 at every batch size
	}
	extend(c, target, sqr, vari)
	return c
}

func extend(c *workload.Curve, end, sqr, vari float64) {
	if n := len(c.Ends); end > 0 && (n == 0 || end > c.Ends[n-1]) {
		c.Ends, c.Sqr[0], c.Var[0] = append(c.Ends, end), append(c.Sqr[0], sqr), append(c.Var[0], vari)
	}
}

func (t *truth) last() (sqr, vari, known float64) {
	if n := len(t.pieces); n > 0 {
		p := &t.pieces[n-1]
		return p.sqr, p.vari, p.last
	}
	sqr, vari = gradients(t.model, t.spec.Batch.Init)
	return sqr, vari, t.done
}

// gradients returns gradient statistics, at the initial batch size, that give the efficiency of a model; 0 and
// 1 if that is always 1 or the job has no initial batch size.
func gradients(m perf.Model, batch int) (sqr, vari float64) {
	if m == nil || batch < 1 {
		return 0, 1
	}
	init := float64(batch)
	large := 1024 * init
	e := m.Efficiency(large)
	if !(e < 1) {
		return 0, 1
	}
	return 1, max(0, (e*large-init)/(1-e)) / init
}

type speed struct {
	spec   *job.Spec
	model  perf.Model // nil: one sample per second and GPU
	factor float64
}

// Step implements workload.Speed. It computes the seconds of a pass from two throughputs of the model: without and with
// one accumulating pass.
func (s speed) Step(t cluster.GPUType, shape []int, local int) (step, sync float64, ok bool) {
	a := cluster.Allocation{Configuration: configuration(t, shape)}
	replicas := a.GPUs / s.spec.ReplicaGPUs(t)
	if replicas == 0 || local < 1 {
		return 0, 0, false
	}
	if s.model == nil {
		return float64(local), 0, true
	}
	samples := float64(replicas * local)
	one, two := s.model.Throughput(a, job.BatchSize{Local: local}), s.model.Throughput(a, job.BatchSize{Local: local, Accumulation: 1})
	if !(one > 0) || math.IsInf(one, 1) || !(two > 0) {
		return 0, 0, false
	}
	step = samples / one
	compute := min(max(0, 2*samples/two-step), step)
	return step * s.factor, (step - compute) * s.factor, true
}

func (s speed) LocalRange(t cluster.GPUType, shape []int) (least, most int) {
	least, most = max(1, s.spec.Batch.LocalMin), max(1, s.spec.Batch.Max)
	if own, ok := s.spec.Batch.LocalMax[t]; ok {
		most = own
	}
	if _, _, ok := s.Step(t, shape, least); !ok || most < least {
		return 0, 0
	}
	return least, most
}

func configuration(t cluster.GPUType, shape []int) cluster.Configuration {
	c := cluster.Configuration{Nodes: len(shape), GPUType: t}
	for _, n := range shape {
		c.GPUs += n
	}
	return c
}
