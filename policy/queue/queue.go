package queue

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
)

// Options configure a Policy. The zero value is FIFO.
type Options struct {
	// Order gives a job's place in the queue. Nil: by submission.
	Order Order
	// Preempt lets jobs ahead in line take the GPUs of running jobs behind
	// them. Without it a running job keeps its GPUs until it ends; only a
	// reservation may take them.
	Preempt bool
	// Weighs says that Order accounts for what a preempted job would lose. Without it running
	// jobs that have no checkpoints keep what they hold, because they would begin anew each
	// time they are preempted, and might never end.
	Weighs bool
	// Moves lets running jobs go to a faster GPU type where, by what is believed of the
	// work they have left, they end sooner there, the restart included. Without it, and
	// where that is not known, a running job keeps its type.
	Moves bool
	// Backfill lets jobs pass a job that does not fit. Without it the first job that does not
	// fit blocks all behind it, even if GPUs of a type it cannot use are free. With it a large
	// job may wait for ever.
	Backfill bool
	// Reservations makes backfill that of EASY, with 1: a job may pass the first one that does not
	// fit only if it does not delay the believed start of that one. With more it may not delay so
	// many that do not fit: conservative backfilling. Without Backfill it has no effect; it is for
	// queues without Preempt. 0: none.
	Reservations int
	// Classes says that Order goes by what is believed of classes of jobs.
	Classes bool
	// Gate, if not nil, is shown every grant of GPUs before it is made, in the order in which
	// they are: job i of the snapshot is to get a. It may change a's CPUs and memory. Where it
	// returns false a job in line is passed over in this round. It cannot refuse what is pinned
	// or reserved nor, without Preempt, what goes on running.
	Gate grant.Gate
	// Memory is what Order remembers of earlier rounds. Nil: nothing.
	Memory memory.Rememberer
}

// FIFO returns first in, first out: no preemption, no backfill.
func FIFO() Options { return Options{} }

// EASY returns first in, first out with EASY backfilling, as most sites run it: running jobs
// stay, and a job passes others only if that does not delay the start of the first in the
// queue. Jobs with a priority are served by that.
func EASY() Options { return Options{Order: HighestPriority, Backfill: true, Reservations: 1} }

// SRTF returns shortest remaining time first: the optimal order for mean JCT
// on one machine with preemption.
func SRTF() Options {
	return Options{Order: ShortestFirst, Preempt: true, Weighs: true, Moves: true, Backfill: true, Classes: true}
}

// LAS returns least attained service first, for jobs whose length is not
// known, in discrete levels. Source: Tiresias §3.2 (2D-LAS).
func LAS() Options { return Options{Order: ServiceLevel, Preempt: true, Backfill: true} }

// A Policy serves jobs in the order of a queue. Its plans depend on the snapshot alone. It
// reuses memory between rounds, so it is not safe for concurrent use.
type Policy struct {
	o     Options
	line  []place
	rooms rooms
}

// New returns a Policy. All Options are valid.
func New(o Options) *Policy { return &Policy{o: o} }

// A place in the queue: that of the job at index; lower keys come first.
type place struct {
	key   float64
	index int
}

// Remember implements policy.Rememberer. Rooms are found again.
func (q *Policy) Remember(m *memory.Codec) {
	if q.o.Memory != nil {
		m.Fields(q.o.Memory)
	}
}

// Traits implements policy.Policy: the type of a gang is chosen by speed. An Order, a Gate, a
// reservation and a move may go by the time; submission does not. Where no job is preempted, the queue is
// served from what running jobs leave.
func (q *Policy) Traits() policy.Traits {
	o := &q.o
	steady := o.Order == nil && o.Gate == nil && o.Reservations == 0 && !o.Moves
	return policy.Traits{Models: true, Classes: o.Classes, Steady: steady, Keeps: steady && !o.Preempt, IgnoresProgress: steady && !o.Preempt}
}

// Plan implements policy.Policy. It takes time linear in jobs, and n log n
// where there is an Order. The only error is that of ctx.
func (q *Policy) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("queue: round %d: %w", s.Round, err)
	}
	r := q.newLine(s)                 // 1. what may not be taken from anyone
	r.Keep(func(j *policy.Job) bool { // 2. what goes on running
		return !q.o.Preempt || j.NoCheckpoint && !q.o.Weighs
	})
	q.lineUp(r) // 3. the other jobs queue
	q.serve(r)  // 4. and is served in turn
	if !q.o.Preempt {
		r.stay(&q.rooms) // 5. no running job moves for one that starts
	}
	return r.Plan(), nil
}

// lineUp sorts the jobs without a decision into q.line.
func (q *Policy) lineUp(r *line) {
	q.line = q.line[:0]
	for i, j := range r.Snapshot.Jobs {
		if r.Decided(i) {
			continue
		}
		key := 0.0
		if q.o.Order != nil {
			key = q.o.Order(r.Snapshot, j)
		}
		if math.IsNaN(key) {
			key = math.Inf(1)
		}
		q.line = append(q.line, place{key, i})
	}
	if q.o.Order != nil {
		slices.SortFunc(q.line, func(a, b place) int {
			return cmp.Or(cmp.Compare(a.key, b.key), a.index-b.index)
		})
	}
}

// serve grants what there is along the line.
func (q *Policy) serve(r *line) {
	waiting, blocked := 0, false
	for k, at := range q.line {
		j, d := r.Snapshot.Jobs[at.index], &r.Plan().Jobs[at.index]
		switch {
		case blocked && grant.Requested(j) <= r.largest:
			d.Why = policy.Reason{Kind: policy.WaitOrder, Value: float64(waiting), Limit: float64(grant.Requested(j))}
		case r.grant(at.index) || d.Why.Kind == policy.Impossible:
			r.uses(at.index)
			continue
		case r.reserved < q.o.Reservations:
			r.reserve(at.index)
		default:
			blocked = !q.o.Backfill
		}
		if waiting > 0 && d.Why.Kind == policy.WaitNoCapacity { // GPUs alone would not help it
			d.Why = policy.Reason{Kind: policy.WaitOrder, Value: float64(waiting), Limit: d.Why.Limit}
		}
		if d.Why.Kind == policy.WaitNoCapacity && q.served(r, k) {
			d.Why.Kind = policy.WaitServed
		}
		waiting++
	}
}

// served reports whether jobs that could be preempted, and are before the k-th of the line, have GPUs that it could use.
func (q *Policy) served(r *line, k int) bool {
	j := r.Snapshot.Jobs[q.line[k].index]
	return q.o.Preempt && slices.ContainsFunc(q.line[:k], func(p place) bool {
		a := &r.Plan().Jobs[p.index].Allocation
		return !a.IsZero() && slices.ContainsFunc(r.Types, func(t cluster.TypeInfo) bool { return a.Has(t.Type) && grant.Usable(j, &t) })
	})
}
