package ledger

import (
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// An absence is the time from a scheduler's last record to its restart. Jobs run on meanwhile.
type absence struct {
	from     time.Time
	had      map[job.ID]*account
	restored []scheduler.Restored
	cluster  *cluster.Cluster
}

// Again continues the ledger after a restart of the scheduler at time start. Restored jobs are assumed to have held
// their GPUs meanwhile, at dual price 0. If no job is restored, no GPU time is booked for the interruption.
func (r *Recorder) Again(start time.Time, c *cluster.Cluster) {
	r.endAbsence()
	if len(r.active) == 0 && len(r.ending) > 0 && r.boundary.After(r.now) && !r.boundary.After(start) {
		r.settleNobody(r.boundary)
	}
	r.endRound()
	for _, a := range r.active {
		r.settle(a)
	}
	r.absent = &absence{from: r.now, had: r.active, cluster: c}
	r.active, r.now, r.prices, r.over = map[job.ID]*account{}, start, nil, true
	r.boundary = start
}

// Now returns the time of the last event or round.
func (r *Recorder) Now() time.Time { return r.now }

func (r *Recorder) endAbsence() {
	x := r.absent
	if x == nil {
		return
	}
	r.absent = nil
	continues := false
	for i := range x.restored {
		continues = r.bookAbsence(x, x.restored[i].Spec) || continues
	}
	for _, a := range x.had {
		a.free()
	}
	if continues {
		for _, p := range r.pools {
			r.bookRest(p, r.period.overlap(x.from, r.now))
		}
	} else {
		r.cluster = nil
	}
	for _, p := range r.pools {
		p.held = 0
	}
	r.setCluster(x.cluster.Held())
	r.setRentals(x.cluster.Rentals())
	for i := range x.restored {
		r.restore(&x.restored[i])
	}
}

func (r *Recorder) bookAbsence(x *absence, spec *job.Spec) bool {
	a := x.had[spec.ID]
	if a == nil {
		return false
	}
	delete(x.had, spec.ID)
	r.settle(a)
	return len(a.parts) > 0
}

func (r *Recorder) restore(ev *scheduler.Restored) {
	if !ev.Status.Phase.Terminal() {
		r.open(ev.Spec)
		r.grant(r.active[ev.Spec.ID], &ev.Status.Allocation, ev.Status.Placement)
	}
}
