package metrics

import (
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
)

type account struct {
	spec         *job.Spec
	outcome      Outcome
	submitted    time.Time
	firstStarted time.Time // zero if never
	finished     time.Time // zero if never

	held     holding
	since    time.Time
	state    State
	restarts int
	service  time.Duration // up to the end of the job

	preemptions, resizes int
	onLoan               bool          // it ever held GPUs on loan
	lost                 time.Duration // part of useful, before the job last started over

	byType                           []time.Duration // GPU time
	useful, restart, profiling, idle time.Duration
	reported, efficient              float64 // GPU-seconds; efficient is weighted by efficiency
	joules, cost                     float64
	contention                       float64 // job-seconds of the cluster at submission; at the end, N_avg
	rho                              float64
	allocation                       cluster.Allocation
	placement                        cluster.Placement
	intervals                        []Interval
	pending                          Interval // last interval, if unsent
	unsent                           bool
}

type holding struct {
	typ    int
	gpus   int
	second int // type of the others; typ if there is one type
	others int // GPUs of the type second
	rented int
	loaned int
	watts  float64
	price  float64 // per hour
}

func (a *account) settle(now time.Time) bool {
	d := now.Sub(a.since)
	a.since = now
	if a.held.gpus == 0 || d <= 0 {
		return false
	}
	used := time.Duration(a.held.gpus) * d
	others := time.Duration(a.held.others) * d
	a.spend(a.held.typ, used-others)
	a.spend(a.held.second, others)
	switch a.state {
	case Training:
		a.useful += used
	case Restoring:
		a.restart += used
	case Idle:
		a.idle += used
	}
	if a.state != Idle {
		a.service += d
	}
	a.joules += a.held.watts * d.Seconds()
	a.cost += a.held.price * d.Hours()
	return true
}

func (a *account) spend(typ int, used time.Duration) {
	for len(a.byType) <= typ {
		a.byType = append(a.byType, 0)
	}
	a.byType[typ] += used
}

// learn adds the statistical efficiency of a report, weighted by GPU time. Source: Sia §2.1, Eq. 2.3, with phi =
// B0 * var / sqr.
func (a *account) learn(r *job.Report) {
	weight := r.Interval.Seconds() * float64(a.held.gpus)
	initial := float64(a.spec.Batch.Init)
	batch := float64(r.Batch.PerReplica() * (r.Configuration.GPUs / a.spec.ReplicaGPUs(r.Configuration.GPUType)))
	if weight <= 0 || initial <= 0 || batch <= 0 || r.GradSqr <= 0 || r.GradVar < 0 {
		return
	}
	a.reported += weight
	a.efficient += weight * perf.Efficiency(initial*r.GradVar/r.GradSqr, initial, batch)
}

func (a *account) efficiency() float64 {
	if a.reported == 0 {
		return 1
	}
	return a.efficient / a.reported
}

func (a *account) result(start, now time.Time, types int) JobResult {
	class := a.spec.Class
	if class == "" {
		class = job.Class(a.spec.Name)
	}
	end := now
	if !a.finished.IsZero() {
		end = a.finished
	}
	jct := end.Sub(a.submitted)
	res := JobResult{
		ID: a.spec.ID, Class: class, GPUs: max(1, a.spec.GPUs), Outcome: a.outcome,
		Submitted:    a.submitted.Sub(start).Seconds(),
		FirstStarted: sinceOrNever(a.firstStarted, start),
		Finished:     sinceOrNever(a.finished, start),
		JCT:          jct.Seconds(), Queued: (jct - a.service).Seconds(),
		Restarts:  a.restarts,
		Allocated: (a.useful + a.restart + a.profiling + a.idle).Seconds(),
		ByType:    make([]float64, types),
		Useful:    a.useful.Seconds(), Restart: a.restart.Seconds(),
		Profiling: a.profiling.Seconds(), Idle: a.idle.Seconds(), Lost: a.lost.Seconds(),
		Preemptions: a.preemptions, Resizes: a.resizes, OnLoan: a.onLoan,
		Efficiency: a.efficiency(), Contention: a.contention, Rho: a.rho,
		Energy: a.joules / 3.6e6, Cost: a.cost,
		Intervals: a.intervals,
	}
	for i, used := range a.byType {
		res.ByType[i] = used.Seconds()
	}
	return res
}

func sinceOrNever(t, start time.Time) float64 {
	if t.IsZero() {
		return -1
	}
	return t.Sub(start).Seconds()
}
