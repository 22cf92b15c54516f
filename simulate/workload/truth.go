package workload

import (
	"math"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
)

// Throughput returns the true samples per second on configuration c, whose GPUs are spread evenly over its nodes; 0 if
// the application does not run there.
func (a *Application) Throughput(c cluster.Configuration, b job.BatchSize) float64 {
	if c.IsZero() || b.Local <= 0 {
		return 0
	}
	replicas := c.GPUs / a.replicaGPUs(c.GPUType)
	step, sync, ok := a.Speed.Step(c.GPUType, evenShape(c), b.Local)
	if !ok || replicas == 0 {
		return 0
	}
	return float64(replicas*b.PerReplica()) / (step + float64(b.Accumulation)*(step-sync))
}

// Fed returns the true samples per second on an allocation: Throughput, limited by the CPUs and memory of the
// allocation if it states them. Source: Synergy §3.1.
func (a *Application) Fed(alloc cluster.Allocation, b job.BatchSize) float64 {
	taken := a.Throughput(alloc.Configuration, b)
	if a.Sensitivity == nil || alloc.CPUs == 0 || taken == 0 {
		return taken
	}
	gpus := float64(alloc.GPUs)
	return math.Min(taken, gpus*a.Sensitivity.Rate(alloc.CPUs/gpus, alloc.Memory/int64(alloc.GPUs)))
}

func (a *Application) replicaGPUs(t cluster.GPUType) int { return max(1, a.GPUsPerReplica[t]) }

func evenShape(c cluster.Configuration) []int {
	shape := make([]int, max(1, c.Nodes))
	for i := range c.GPUs {
		shape[i%len(shape)]++
	}
	return shape
}

// Reference returns the throughput of one replica on type t that Sia's published simulator uses to compare GPU types:
// the largest local batch divided by the longest step time. Source: Sia simulator.
func (a *Application) Reference(t cluster.GPUType) float64 {
	shape := []int{a.replicaGPUs(t)}
	least, most := a.Speed.LocalRange(t, shape)
	longest := 0.0
	for local := least; local <= most; local++ {
		if step, _, ok := a.Speed.Step(t, shape, local); ok {
			longest = max(longest, step)
		}
	}
	if longest == 0 {
		return 0
	}
	return float64(most) / longest
}

// Efficiency returns the true statistical efficiency in an epoch at the total batch size total, or 1 without gradient
// statistics.
func (a *Application) Efficiency(epoch int, total float64) float64 {
	if a.Curve == nil {
		return 1
	}
	sqr, vari := a.Gradient(epoch, total)
	if sqr <= 0 {
		return 1
	}
	init := float64(a.Batch.Init)
	return perf.Efficiency(init*vari/sqr, init, total)
}

type alone struct {
	app   *Application
	epoch int
	goal  job.Goal
}

func (m alone) Throughput(a cluster.Allocation, b job.BatchSize) float64 {
	return m.app.Fed(a, b)
}

func (m alone) Efficiency(total float64) float64 {
	if m.goal != job.Training {
		return 1
	}
	return m.app.Efficiency(m.epoch, total)
}

// StepTime implements perf.Model: unknown, because steps are measured.
func (alone) StepTime(cluster.Allocation) perf.StepTime { return perf.StepTime{} }

// Exclusive returns how many seconds a job alone on allocation alloc takes for all epochs of its regimes, with a
// complete last epoch. It is infinite if the job does not run there. Source: public Shockwave profiles, total running
// time.
func (a *Application) Exclusive(regimes []job.Regime, alloc cluster.Allocation) float64 {
	total := 0.0
	for _, r := range regimes {
		total += float64(r.Epochs) * float64(a.Epoch) / a.Fed(alloc, a.cut(r.BatchSize, alloc.Configuration))
	}
	return total
}

func (a *Application) cut(total int, c cluster.Configuration) job.BatchSize {
	return job.BatchSize{Local: total / max(1, c.GPUs/a.replicaGPUs(c.GPUType))}
}

// scheduled is Exclusive without the part of the last epoch beyond the target.
func (a *Application) scheduled(s *job.Spec, regimes []job.Regime, alloc cluster.Allocation) float64 {
	ends := a.EpochEnds(s, regimes)
	over := float64(len(ends)*a.Epoch) - ends[len(ends)-1]
	last := a.cut(regimes[len(regimes)-1].BatchSize, alloc.Configuration)
	return a.Exclusive(regimes, alloc) - over/a.Fed(alloc, last)
}

// Alone returns how many seconds a job alone on allocation alloc takes, with its best, fixed or scheduled batch sizes.
// It is infinite or NaN if the job does not run there.
func (a *Application) Alone(s *job.Spec, alloc cluster.Allocation) float64 {
	if regimes, err := a.Regimes(s); err == nil && regimes != nil {
		return a.scheduled(s, regimes, alloc)
	}
	if a.Model != "" {
		return s.Target / a.Fed(alloc, a.cut(s.BatchSize, alloc.Configuration))
	}
	if a.Curve == nil {
		return s.Target / a.Fed(alloc, job.BatchSize{Local: 1})
	}
	total, before := 0.0, 0.0
	for epoch, end := range a.Curve.Ends {
		total += (end - before) / (a.bestGoodput(s, alloc, epoch) / max(1, a.Slowdown))
		before = end
	}
	return total
}

func (a *Application) bestGoodput(s *job.Spec, alloc cluster.Allocation, epoch int) float64 {
	m, c := alone{a, epoch, s.Goal}, alloc.Configuration
	replicas, limits := c.GPUs/s.ReplicaGPUs(c.GPUType), a.limits(s, c)
	if s.Adaptivity.Has(job.BatchSizes) {
		g, _ := perf.BestBatch(m, alloc, replicas, &limits)
		return g
	}
	b := perf.FixedBatch(max(s.BatchSize, replicas), replicas, c.GPUType, &limits)
	b.Local = max(b.Local, limits.LocalMin) // the speed of smaller batches is unknown
	return perf.Goodput(m, alloc, replicas, b)
}

func (a *Application) limits(s *job.Spec, c cluster.Configuration) job.BatchLimits {
	least, most := a.Speed.LocalRange(c.GPUType, evenShape(c))
	l := s.Batch
	l.LocalMin, l.LocalMax = max(least, l.LocalMin), map[cluster.GPUType]int{c.GPUType: most}
	return l
}
