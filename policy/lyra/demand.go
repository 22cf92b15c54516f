package lyra

import (
	"math"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy/lyra/allocate"
)

const endless = 365 * 24 * time.Hour

// demand sets a job's worker size, limits, speed and work on GPU type at. least is 0 if it can have nothing.
func (d *demands) demand(t *tenant, at int) {
	least, most, step := d.Range(t.index, at)
	if t.least, t.top = 0, 0; least == 0 {
		return
	}
	t.plain = false
	if !t.divide(least, step, t.equivalents(d.types[at].Type)) {
		t.plain = true // its replicas are not whole equivalents
		t.divide(least, step, 1)
	}
	same := t.equivalents(d.types[at].Type)
	t.least, t.top = least/(t.unit*same), d.limit(t, at, least, most)/(t.unit*same)
	if d.policy.o.Allocate.Growth == allocate.None {
		t.top = t.least
	}
	if t.held = 0; t.pair != none {
		d.fit(t)
	}
	d.setSpeeds(t, at)
	t.work = d.work(t, at)
}

func (t *tenant) divide(least, step, same int) bool {
	whole := func() bool { return t.unit > 0 && least%(t.unit*same) == 0 && t.unit*same%step == 0 }
	if t.unit = t.WorkerGPUs; whole() {
		return true
	}
	if t.unit = least / same; t.Adaptivity.Has(job.GPUCount) {
		t.unit = step / same
	}
	return whole()
}

func (t *tenant) equivalents(of cluster.GPUType) int {
	if t.plain {
		return 1
	}
	return t.Equivalent(of)
}

// limit returns the most GPUs of a job; twice its request if it is elastic and states no limit and no model.
// Source: Lyra §7.1, Ideal, "its scaling range is twice that".
func (d *demands) limit(t *tenant, at, least, most int) int {
	if !t.modelled() && t.Spec.MaxGPUs == 0 && t.Adaptivity.Has(job.GPUCount) {
		return min(most, max(least, 2*t.Requested(d.types[at].Type)))
	}
	return most
}

func (d *demands) fit(t *tenant) {
	workers, whole := 0, true
	for _, at := range d.pairs[t.pair] {
		if at != none {
			gpus, one := d.s.Cluster.On(t.Placement, d.types[at].Type).GPUs(), d.gpus(t, at, 1)
			workers, whole = workers+gpus/one, whole && gpus%one == 0
		}
	}
	if !whole {
		t.plain, t.unit, t.least, t.top = true, t.Placement.GPUs(), 1, 1
		return
	}
	t.held, t.least, t.top = workers, min(t.least, workers), max(t.top, workers)
}

func (d *demands) work(t *tenant, at int) time.Duration {
	if t.rate = 0; t.Perf != nil {
		t.rate = d.speed(t, at)
	}
	t.basis = d.s.Basis(t.Job)
	return t.left()
}

func (t *tenant) left() time.Duration {
	left, _ := t.basis.Time(t.rate)
	return lasting(left.Seconds() * float64(t.least))
}

const workUnknown = -1

func (t *tenant) remainingWork() time.Duration {
	if t.work == workUnknown {
		t.work = t.left()
	}
	return t.work
}

func (d *demands) speed(t *tenant, at int) float64 {
	if t.rates != nil {
		return t.rates[0]
	}
	rate, _ := t.Job.Speed(d.Amount(t.index, at, d.gpus(t, at, t.least)))
	return rate
}

func lasting(seconds float64) time.Duration {
	if math.IsNaN(seconds) || seconds >= endless.Seconds() {
		return endless
	}
	return time.Duration(seconds * float64(time.Second))
}

func (d *demands) end(t *tenant) time.Time {
	return d.s.Now.Add(t.remainingWork() / time.Duration(max(1, t.least)))
}

func (d *demands) held(t *tenant, p cluster.Placement) (w allocate.Workers) {
	var gpus [2]int
	for _, s := range p {
		if n, ok := d.s.Cluster.Index(s.Node); ok {
			gpus[d.spots[d.nodes[n].t].side] += s.GPUs
		}
	}
	for side, t2 := range d.pairs[t.pair] {
		if gpus[side] > 0 {
			w[side] = gpus[side] / d.gpus(t, t2, 1)
		}
	}
	return w
}

func (d *demands) has(t *tenant) allocate.Workers {
	if t.untouched {
		return t.memo.has
	}
	w, more := d.held(t, t.base), d.held(t, t.flex)
	for side := range w {
		w[side] += more[side]
	}
	return w
}

// mixes reports whether a job may run on both types of a pair at once. Replicas of several GPUs, and CPUs and
// memory, are not divided.
func (d *demands) mixes(t *tenant, at pair) bool {
	if !t.Adaptivity.Has(job.Heterogeneous) || t.GPUsPerReplica != nil {
		return false
	}
	for _, side := range at {
		if side == none || d.types[side].Counts() {
			return false
		}
	}
	return true
}

// belongs reports whether a job may wait for a pair. With Opportunity, a job that may run on loan does not
// wait for training servers.
func (d *demands) belongs(t *tenant, at pair) bool {
	own := at[allocate.Training]
	if own == none {
		return false
	}
	apart := false
	for k := range d.types {
		apart = apart || d.lent[k] && d.policy.o.Loan == Opportunity && d.fungible(t, k)
	}
	return apart == d.lent[own]
}

func (d *demands) fungible(t *tenant, lent int) bool {
	if lent == none || d.policy.o.Loan == NoLoan || t.NonPreemptive {
		return false
	}
	of := d.types[lent].Type
	return t.Eligible(of) && t.KeepsType(of) && t.equivalents(of) == d.perGPU(lent)
}
