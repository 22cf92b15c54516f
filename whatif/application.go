package whatif

import (
	"cmp"
	"math"
	"time"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/perf"
	"github.com/oxgang/oxgang/workload"
)

// endless is a target, in samples, that no job reaches.
const endless = 1e18

// A truth is what is taken for true of a job in the simulated world.
type truth struct {
	spec   *job.Spec
	model  perf.Model // nil: nothing is known of its speed
	input  *perf.Sensitivity
	factor float64         // times the seconds of a pass that the model says
	delay  time.Duration   // from a decision to the first step
	each   []time.Duration // the same, start by start; nil: not known
	target float64         // samples; 0: it does not end
	pieces []piece         // what was measured of gradients; nil: what the model says
}

// application returns the job as the simulator knows jobs.
func (t *truth) application(types []cluster.TypeInfo) *workload.Application {
	app := &workload.Application{
		Name: string(t.spec.ID), Batch: t.spec.Batch, GPUsPerReplica: t.spec.GPUsPerReplica, MicroBatches: t.spec.MicroBatches,
		RestartDelay: t.delay, Delays: t.each, Slowdown: 1, Speed: speed{t.spec, t.model, t.factor}, Sensitivity: t.input,
	}
	if t.scheduled(app, types) {
		return app
	}
	app.Model, app.Epoch = "", 0
	app.Curve = t.curve()
	return app
}

// scheduled makes app one whose jobs change their batch size by the job's schedule, and
// reports whether the job has one that the simulator can follow: given regimes that lead to
// its target, and a fixed number of GPUs.
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

// curve returns the way to the target: of the gradients that were measured, or of those
// that the model believes in.
func (t *truth) curve() *workload.Curve {
	target := t.target
	if target <= 0 {
		target = endless
	}
	init := max(1, t.spec.Batch.Init)
	c := &workload.Curve{Batches: []float64{float64(init)}, Sqr: make([][]float64, 1), Var: make([][]float64, 1)}
	add := func(end, sqr, vari float64) {
		c.Ends, c.Sqr[0], c.Var[0] = append(c.Ends, end), append(c.Sqr[0], sqr), append(c.Var[0], vari)
	}
	for i, p := range t.pieces {
		end := target
		if i+1 < len(t.pieces) {
			end = cmp.Or(p.end, (p.last+t.pieces[i+1].first)/2)
		}
		if n := len(c.Ends); end >= target || n > 0 && end <= c.Ends[n-1] {
			continue
		}
		add(end, p.sqr, p.vari)
	}
	if n := len(t.pieces); n > 0 {
		add(target, t.pieces[n-1].sqr, t.pieces[n-1].vari)
		return c
	}
	sqr, vari := gradients(t.model, t.spec.Batch.Init)
	add(target, sqr, vari)
	return c
}

// gradients returns gradient statistics, referred to the initial batch size, of which the
// efficiency of a model follows. Of a job that has not said its initial batch size, known by
// its class, none follows.
func gradients(m perf.Model, batch int) (sqr, vari float64) {
	if m == nil || batch < 1 {
		return 0, 1
	}
	init := float64(batch)
	large := 1024 * init
	e := m.Efficiency(large)
	if !(e < 1) {
		return 0, 1 // a sample is a sample at every batch size
	}
	return 1, max(0, (e*large-init)/(1-e)) / init
}

// speed is a model as the simulator knows speed.
type speed struct {
	spec   *job.Spec
	model  perf.Model // nil: one sample per second and GPU
	factor float64
}

// Step implements workload.Speed: of the throughput with no accumulating pass and with
// one follows how long a pass takes without gradient exchange.
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

// LocalRange implements workload.Speed: what the job says of itself.
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
