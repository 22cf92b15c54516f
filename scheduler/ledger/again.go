package ledger

import (
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// An absence is the time from the last thing that a scheduler recorded until it was started again, as after a crash. Jobs
// go on meanwhile.
type absence struct {
	from     time.Time
	had      map[job.ID]*account // of the jobs that were active
	restored []scheduler.Restored
	cluster  *cluster.Cluster // what there is afterwards, as a scheduler gets it
}

// Again begins the record of a scheduler that was started again, at a time, on a cluster as in NewRecorder. A job that had GPUs and is
// restored had them throughout, at no price, because no round was held. If none is restored, nothing is known of the time between:
// nobody had GPUs, and none were there.
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

// Now returns the time of the last thing seen.
func (r *Recorder) Now() time.Time { return r.now }

// endAbsence books the time in which the scheduler was not there, and gives restored jobs what they have.
func (r *Recorder) endAbsence() {
	x := r.absent
	if x == nil {
		return
	}
	r.absent = nil
	goesOn := false
	for i := range x.restored {
		goesOn = r.goOn(x, x.restored[i].Spec) || goesOn
	}
	for _, a := range x.had {
		a.free()
	}
	if goesOn {
		for _, p := range r.pools {
			r.bookRest(p, r.now.Sub(x.from))
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

// goOn books what a job had while the scheduler was not there, and reports whether it had anything. What jobs had that
// are not restored is nobody's.
func (r *Recorder) goOn(x *absence, spec *job.Spec) bool {
	a := x.had[spec.ID]
	if a == nil {
		return false
	}
	delete(x.had, spec.ID)
	r.settle(a)
	return len(a.parts) > 0
}

// restore opens the account of a job that was known before.
func (r *Recorder) restore(ev *scheduler.Restored) {
	if !ev.Status.Phase.Terminal() {
		r.open(ev.Spec)
		r.grant(r.active[ev.Spec.ID], &ev.Status.Allocation, ev.Status.Placement)
	}
}
