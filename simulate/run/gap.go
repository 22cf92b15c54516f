package run

import (
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

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

// relative returns a job's estimated speed over that with the proportional share, times its weight; 0 without
// GPUs, the weight if unknown.
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
