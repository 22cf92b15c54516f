package sim

import (
	"math"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/scheduler"
)

// profile measures the job on each type, with the GPUs of one replica: first batch sizes, then CPU
// counts. All types are measured at the same time. Source: Sia §3.3.2, Synergy §3.1.
//
// Deviation: the profiling runs are charged to the job but hold no GPUs of the plan, because they
// take no longer than a round and would keep a GPU idle for the rest of it.
func (g *agent) profile(w *World, types []cluster.GPUType) {
	over := w.now
	for _, m := range g.app.Profile {
		at := w.now.Add(m.After)
		over = later(over, at)
		w.agenda.push(entry{at: at, what: func(w *World) { g.profiled(w, []job.Report{m.Report}) }})
	}
	for _, t := range types {
		if g.belief == nil || g.app.Profile != nil {
			break
		}
		r := g.runs(w, t)
		end := w.now.Add(r.took)
		over = later(over, end)
		w.agenda.push(entry{at: end, what: func(w *World) { g.profiled(w, r.reports) }})
	}
	w.agenda.push(entry{at: over, what: func(w *World) {
		if w.jobs[g.spec.ID] == g {
			w.emit(scheduler.Profiled{Job: g.spec.ID})
		}
	}})
}

func (g *agent) profiled(w *World, reports []job.Report) {
	if w.jobs[g.spec.ID] != g {
		return
	}
	for i := range reports {
		g.belief.Learn(&reports[i])
		w.emit(scheduler.Reported{Report: reports[i]})
	}
}

type profileRuns struct {
	agent   *agent
	noise   float64
	alloc   cluster.Allocation // with all CPUs and memory of a node; 0 if they do not count
	reports []job.Report
	took    time.Duration
}

func (g *agent) runs(w *World, t cluster.GPUType) *profileRuns {
	r := &profileRuns{agent: g, noise: w.o.Noise.Report}
	r.alloc.Configuration = cluster.Configuration{Nodes: 1, GPUs: g.spec.ReplicaGPUs(t), GPUType: t}
	if g.app.Sensitivity != nil {
		r.alloc.CPUs, r.alloc.Memory = host(w.in.full, r.alloc.Configuration)
	}
	least, most := g.app.Speed.LocalRange(t, []int{r.alloc.GPUs})
	limits := job.BatchLimits{Init: g.limits.Init, Max: g.limits.Max, LocalMin: max(least, g.limits.LocalMin), LocalMax: map[cluster.GPUType]int{t: most}}
	rungs := perf.Ladder(&limits, t, perf.ProfileRungs)
	if n := len(rungs) - 1; n >= 0 && r.alloc.CPUs > 0 {
		r.ladder(rungs[:n])
		r.search(rungs[n])
		return r
	}
	r.ladder(rungs)
	return r
}

func host(full *cluster.Cluster, c cluster.Configuration) (cpus float64, memory int64) {
	if t, ok := full.Type(c.GPUType); !ok || !t.Counts() {
		return 0, 0
	}
	for _, n := range full.Nodes() {
		if n.GPUType == c.GPUType && n.Capacity.GPUs >= c.GPUs && math.Floor(n.Capacity.CPUs) > cpus {
			cpus, memory = math.Floor(n.Capacity.CPUs), n.Capacity.Memory
		}
	}
	return cpus, memory
}

func (r *profileRuns) ladder(rungs []int) {
	for _, local := range rungs {
		if rep, step, ok := r.measure(r.alloc, local); ok {
			r.note(rep, perf.ProfileCost(step))
		}
	}
}

func (r *profileRuns) search(local int) {
	s := perf.NewCPUSearch(int(r.alloc.CPUs))
	a := r.alloc
	for cpus, more := s.Next(); more; cpus, more = s.Next() {
		a.CPUs = float64(cpus)
		rep, step, ok := r.measure(a, local)
		if !ok {
			return
		}
		r.note(rep, perf.CPUProfileCost(step))
		s.Learn(cpus, float64(local)/(float64(a.GPUs)*rep.StepTime.Seconds()))
	}
}

func (r *profileRuns) note(rep job.Report, took time.Duration) {
	rep.Interval = took
	r.took += took
	r.reports = append(r.reports, rep)
}

func (r *profileRuns) measure(a cluster.Allocation, local int) (rep job.Report, step time.Duration, ok bool) {
	g := r.agent
	seconds, sync, ok := g.app.Speed.Step(a.GPUType, []int{a.GPUs}, local)
	if fed := g.fed(a, local); fed > seconds {
		seconds, sync = fed, 0
	}
	if !ok || math.IsInf(seconds, 1) {
		return rep, 0, false
	}
	sqr, vari := g.app.Gradient(0, float64(local))
	rep = job.Report{
		Job: g.spec.ID, Configuration: a.Configuration, CPUs: a.CPUs, Memory: a.Memory, Batch: job.BatchSize{Local: local},
		StepTime: g.perceive(seconds, a.GPUType, r.noise), SyncTime: g.perceive(sync, a.GPUType, r.noise), GradSqr: sqr, GradVar: vari, Profile: true,
	}
	rep.SyncTime = min(rep.SyncTime, rep.StepTime)
	return rep, time.Duration(seconds * float64(time.Second)), true
}
