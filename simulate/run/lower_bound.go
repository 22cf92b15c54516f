package run

import (
	"math"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/metrics/statistics"
	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/workload"
)

// LowerBound returns a lower bound on the mean completion time of the measured jobs, as if all nodes for rent or on
// loan were available. known is the mean under any policy; it makes the bound tighter.
func LowerBound(c *config.Config, in *Inputs, known time.Duration) (time.Duration, error) {
	of, err := in.window(c)
	if err != nil {
		return 0, err
	}
	types := in.Cluster.Types()
	gpus := make([]float64, len(types))
	for k, t := range types {
		gpus[k] = float64(t.GPUs)
	}
	jobs := make([]statistics.Task, 0, len(in.Arrivals))
	starts, alike := 0.0, workload.Steadies{}
	for i := range in.Arrivals {
		a := &in.Arrivals[i]
		if !of.measures(&a.Spec) || slices.Contains(c.Skipped, a.Spec.Queue) {
			continue
		}
		app, spec := in.application(&a.Spec), &a.Spec
		if app == nil {
			app, spec = in.steady(&a.Spec, &alike)
		}
		first := in.restartDelay(app).Seconds()
		if c.Sim.FreeStart {
			first = 0
		}
		j := statistics.Task{Ready: a.At.Seconds() + first, Fastest: math.Inf(1)}
		for _, t := range types {
			j.GPUSeconds = append(j.GPUSeconds, least(app, spec, &t, &j.Fastest))
		}
		if j.Fastest > 0 && !math.IsInf(j.Fastest, 1) {
			jobs, starts = append(jobs, j), starts+first
		}
	}
	if len(jobs) == 0 {
		return 0, nil
	}
	mean := starts / float64(len(jobs))
	return time.Duration((statistics.LowerBound(jobs, gpus, known.Seconds()-mean) + mean) * float64(time.Second)), nil
}

// least returns the least GPU-seconds on one GPU type with all CPUs and memory; 0 if the job does not run. It
// lowers fastest to the shortest time.
func least(app *workload.Application, spec *job.Spec, t *cluster.TypeInfo, fastest *float64) float64 {
	best := math.Inf(1)
	for _, n := range counts(spec, t) {
		c := t.Fewest(n)
		share := t.Proportional(c)
		whole := t.Proportional(cluster.Configuration{Nodes: c.Nodes, GPUs: c.Nodes * t.PerNode, GPUType: c.GPUType})
		share.CPUs, share.Memory = whole.CPUs, whole.Memory
		seconds := app.Alone(spec, share)
		if !(seconds > 0) || math.IsInf(seconds, 1) {
			continue
		}
		best, *fastest = min(best, float64(n)*seconds), min(*fastest, seconds)
	}
	if math.IsInf(best, 1) {
		return 0
	}
	return best
}

func counts(spec *job.Spec, t *cluster.TypeInfo) []int {
	if !spec.Adaptivity.Has(job.GPUCount) {
		if n := spec.Requested(t.Type); n <= t.GPUs {
			return []int{n}
		}
		return nil
	}
	most := t.GPUs
	if spec.MaxGPUs > 0 {
		most = min(most, spec.Most(t.Type))
	}
	var all []int
	for n := max(spec.ReplicaGPUs(t.Type), spec.MinGPUs); n <= most; n += spec.ReplicaGPUs(t.Type) {
		all = append(all, n)
	}
	return all
}

type gaps struct {
	run   *Run
	known map[*policy.Job]speedup
}

type speedup struct {
	of    cluster.Allocation
	on    *cluster.Cluster
	speed float64
}

func (*gaps) Event(time.Time, scheduler.Event) {}

func (g *gaps) Round(s *policy.Snapshot, p *policy.Plan, _ []scheduler.Action) {
	if p.Stats.Bound <= 0 || !s.Cluster.Types()[0].Counts() {
		return
	}
	sum := 0.0
	for i, j := range s.Jobs {
		sum += g.relative(s, j, &p.Jobs[i].Allocation)
	}
	g.run.Gaps = append(g.run.Gaps, 1-sum/p.Stats.Bound)
}

func (g *gaps) relative(s *policy.Snapshot, j *policy.Job, a *cluster.Allocation) float64 {
	if k, ok := g.known[j]; ok && k.of == *a && k.on == s.Cluster {
		return k.speed
	}
	if g.known == nil || len(g.known) > 2*len(s.Jobs)+64 { // mostly rows of ended jobs
		g.known = make(map[*policy.Job]speedup, len(s.Jobs))
	}
	speed := relative(s, j, a)
	g.known[j] = speedup{*a, s.Cluster, speed}
	return speed
}

func relative(s *policy.Snapshot, j *policy.Job, a *cluster.Allocation) float64 {
	t, ok := s.Cluster.Type(a.GPUType)
	if !ok || a.GPUs == 0 {
		return 0
	}
	weight := max(0, j.Weight)
	if weight == 0 {
		weight = 1
	}
	if j.Perf == nil {
		return weight
	}
	b := job.BatchSize{Local: max(1, j.BatchSize/a.GPUs)}
	fair := j.Perf.Throughput(t.Proportional(a.Configuration), b)
	if fair <= 0 {
		return weight
	}
	return weight * j.Perf.Throughput(*a, b) / fair
}
