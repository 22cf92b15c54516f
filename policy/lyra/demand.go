package lyra

import (
	"math"
	"time"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/policy/queue"
)

// endless is the longest time that counts: a year.
const endless = 365 * 24 * time.Hour

// demand finds out what job t may have of GPU type at: its workers, their GPUs in the training
// cluster, and the work that is left.
func (r *round) demand(t *tenant, at int) {
	least, most, step := r.Range(t.index, at)
	if t.least, t.top = 0, 0; least == 0 {
		return
	}
	same := t.Equivalent(r.types[at].Type)
	least, most, step = least/same, most/same, max(1, step/same)
	t.unit = t.WorkerGPUs
	if t.unit == 0 || least%t.unit != 0 || t.unit%step != 0 {
		t.unit = step
		if !t.Adaptivity.Has(job.GPUCount) {
			t.unit = max(1, least)
		}
	}
	t.least, t.top = least/t.unit, most/t.unit
	if t.Spec.MaxGPUs == 0 && t.Adaptivity.Has(job.GPUCount) { // Lyra §7.1, Ideal: "its scaling range is twice that"
		t.top = min(t.top, max(t.least, 2*max(1, t.GPUs)/t.unit))
	}
	if !r.p.o.Scale {
		t.top = t.least
	}
	if t.Holding() && t.t == at {
		r.fit(t, same)
	}
	t.work = r.work(t, at, same)
}

// fit makes the limits such that what the job holds is within them.
func (r *round) fit(t *tenant, same int) {
	held := t.Allocation.GPUs
	if t.unit*same == 0 || held%(t.unit*same) != 0 {
		t.unit, t.least, t.top, t.workers = max(1, held/same), 1, 1, 1
		return
	}
	t.workers = held / (t.unit * same)
	t.least, t.top = min(t.least, t.workers), max(t.top, t.workers)
}

// work returns the time that one worker would need for what is left of a job, by what is
// believed: w need it w times less. Of a job of which no speed is known a second at the GPUs
// it asks for is one of its Target.
func (r *round) work(t *tenant, at, same int) time.Duration {
	if t.Target <= 0 {
		return endless
	}
	left := max(0, t.Target-t.Progress)
	if t.Perf == nil {
		asked := float64(max(1, t.GPUs)) / float64(t.unit)
		if t.Phase == job.Running {
			held := float64(t.Allocation.GPUs) / float64(t.Equivalent(t.Allocation.GPUType)) / float64(t.unit)
			left = max(0, left-r.s.Now.Sub(t.Since).Seconds()*held/asked)
		}
		return lasting(left * asked)
	}
	gpus := t.least * t.unit * same
	rate, _ := queue.Speed(t.Job, r.Amount(t.index, at, gpus))
	return lasting(left / rate * float64(t.least))
}

// lasting returns so many seconds, at most endless.
func lasting(seconds float64) time.Duration {
	if math.IsNaN(seconds) || seconds >= endless.Seconds() {
		return endless
	}
	return time.Duration(seconds * float64(time.Second))
}

// end returns when a job that runs will have ended, with the workers it has.
func (r *round) end(t *tenant) time.Time {
	return r.s.Now.Add(t.work / time.Duration(max(1, t.workers)))
}

// gpus returns the GPUs of type at that so many workers of a job take.
func (r *round) gpus(t *tenant, at, workers int) int {
	return workers * t.unit * t.Equivalent(r.types[at].Type)
}

// allocation returns what a job that is placed so holds.
func (r *round) allocation(t *tenant, at int, where cluster.Placement) cluster.Allocation {
	a := r.Amount(t.index, at, where.GPUs())
	a.Nodes = len(where)
	return a
}
