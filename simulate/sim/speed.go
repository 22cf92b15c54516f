package sim

import (
	"math"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/scheduler"
)

// tune chooses the batch size and computes the true speed. The first that applies decides: the job's
// schedule, the plan, a fixed submitted size, the agent's best estimate, the initial size. Rate 0 means that
// the job cannot run. Source: Sia §3.3.1.
func (g *agent) tune() {
	g.batch = g.choose()
	step, sync, ok := g.pass()
	if !ok {
		g.rate = 0
		return
	}
	step, sync = step+(g.apart-1)*sync, g.apart*sync
	g.step, g.sync = step*g.slow, sync*g.slow
	if fed := g.fed(g.alloc, g.batch.Local*g.replicas); fed > g.step-g.sync { // slower than a pass without exchange
		g.step, g.sync = max(g.step, fed), max(0, g.step-fed)
	}
	g.rate = g.goodput()
}

func (g *agent) pass() (step, sync float64, ok bool) {
	switch {
	case !g.alloc.Mixed():
		return g.app.Speed.Step(g.alloc.GPUType, g.shape, g.batch.Local)
	case g.app.Mixed == nil:
		return 0, 0, false
	}
	return g.app.Mixed(&g.alloc), 0, true
}

// fed returns the seconds in which the input pipeline delivers samples; 0 if there is no limit. Reading
// overlaps with the rest, so the slower one decides. Source: Synergy §3.1.
func (g *agent) fed(a cluster.Allocation, samples int) float64 {
	if g.app.Sensitivity == nil || a.CPUs == 0 {
		return 0
	}
	rate := g.app.Sensitivity.Rate(a.CPUs/float64(a.GPUs), a.Memory/int64(a.GPUs))
	return float64(samples) / (float64(a.GPUs) * rate)
}

func (g *agent) choose() job.BatchSize {
	t := g.alloc.GPUType
	switch {
	case g.steps != nil:
		return job.BatchSize{Local: g.steps.local}
	case g.regimes != nil:
		return job.BatchSize{Local: job.BatchAt(g.regimes, g.epoch) / g.replicas}
	case g.app.Batch.Max <= 1:
		return job.BatchSize{Local: 1}
	case g.fixed.Local > 0:
		return g.within(perf.FixedBatch(g.replicas*g.fixed.PerReplica(), g.replicas, t, &g.limits))
	case !g.spec.Adaptivity.Has(job.BatchSizes):
		return g.within(perf.FixedBatch(max(g.spec.BatchSize, g.replicas), g.replicas, t, &g.limits))
	}
	m, _ := g.belief.Model()
	if m != nil && m == g.asked {
		return g.batch
	}
	if m != nil && m.Knows(t) {
		if _, b := perf.BestBatch(m, g.alloc, g.replicas, &g.limits); b.Local > 0 {
			g.asked = m
			return g.within(b)
		}
	}
	least := max(1, g.limits.LocalMin) * g.replicas
	return g.within(perf.FixedBatch(max(g.limits.Init, least), g.replicas, t, &g.limits))
}

func (g *agent) within(b job.BatchSize) job.BatchSize {
	least, most := g.app.Speed.LocalRange(g.alloc.GPUType, g.shape)
	b.Local = min(max(b.Local, least), most)
	return b
}

func (g *agent) goodput() float64 {
	iteration := g.step + (g.step-g.sync)*float64(g.batch.Accumulation)
	total := float64(g.replicas * g.batch.PerReplica())
	rate := total / iteration / max(1, g.app.Slowdown)
	if g.spec.Goal != job.Training {
		return rate
	}
	return rate * g.app.Efficiency(g.epoch, total)
}

func (g *agent) measure(w *World) (taught bool) {
	if !w.now.After(g.measured) || g.belief == nil {
		return true
	}
	total := float64(g.replicas * g.batch.PerReplica())
	sqr, vari := g.app.Gradient(g.epoch, total)
	r := job.Report{
		Job: g.spec.ID, Interval: w.now.Sub(g.measured), Configuration: g.alloc.Configuration, CPUs: g.alloc.CPUs, Memory: g.alloc.Memory, Batch: g.batch,
		StepTime: g.perceive(g.step, g.alloc.GPUType, w.o.Noise.Report), SyncTime: g.perceive(g.sync, g.alloc.GPUType, w.o.Noise.Report), GradSqr: sqr, GradVar: vari,
		Progress: g.progress, Epoch: g.epoch,
	}
	r.SyncTime = min(r.SyncTime, r.StepTime)
	g.measured = w.now
	before := g.belief.Version()
	g.belief.Learn(&r)
	w.emit(scheduler.Reported{Report: r})
	return g.belief.Version() != before
}

func (g *agent) perceive(seconds float64, t cluster.GPUType, sigma float64) time.Duration {
	if g.noise != nil {
		seconds *= g.bias[t] * math.Exp(sigma*g.noise.NormFloat64())
	}
	return time.Duration(seconds * float64(time.Second))
}
