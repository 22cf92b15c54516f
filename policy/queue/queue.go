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
	// Order sorts the queue. Nil: by submission.
	Order Order
	// Preempt lets a job take the GPUs of running jobs behind it in the queue. If it is false, only jobs with a
	// reservation preempt.
	Preempt bool
	// Weighs states that Order itself counts the work that a preemption loses. If it is false, running jobs without
	// checkpoints keep their GPUs.
	Weighs bool
	// Moves lets a running job move to a faster GPU type if it is estimated to end sooner there.
	Moves bool
	// Backfill lets jobs pass a job that does not fit; otherwise that job blocks all jobs behind it. A large job may
	// wait for ever, unless Reservations is above 0.
	Backfill bool
	// Reservations is the number of waiting jobs that backfilling must not delay: 1 is EASY, more
	// is conservative backfilling, 0 none. It is for queues without Preempt.
	Reservations int
	// ByNode makes starts and the reservation respect nodes: a job starts only if it fits on nodes. Without
	// it the GPUs of a type count as one pool. It is for queues without Preempt, and has no effect if
	// Reservations is above 1.
	ByNode bool
	// Classes states that Order uses estimates for classes of jobs.
	Classes bool
	// Gate, if not nil, is called before each grant and may change its CPUs and memory. If it returns
	// false, the job is passed over, unless it is non-preemptive, reserved or, without Preempt, running.
	Gate grant.Gate
	// Memory is the state of Order between rounds. Nil: none.
	Memory memory.Rememberer
}

// FIFO returns the options of first in, first out: without preemption and backfilling.
func FIFO() Options { return Options{} }

// EASY returns the options of EASY backfilling, ordered by priority, then submission. A job may start before jobs ahead
// of it only if it does not delay the first of them.
func EASY() Options { return Options{Order: HighestPriority, Backfill: true, Reservations: 1} }

// SRTF returns the options of the policy shortest remaining time first. On one machine with preemption,
// this order minimises the mean completion time.
func SRTF() Options {
	return Options{Order: ShortestFirst, Preempt: true, Weighs: true, Moves: true, Backfill: true, Classes: true}
}

// LAS returns the options of the policy least attained service first, for jobs of unknown length: jobs that
// have received the least GPU time come first, in levels (serviceLevel). Source: Tiresias §3.2 (2D-LAS).
func LAS() Options { return Options{Order: serviceLevel, Preempt: true, Backfill: true} }

// A Policy starts jobs in the order of a queue. Its plans depend only on the snapshot, and on the state of its Order.
// It is not safe for concurrent use.
type Policy struct {
	o     Options
	line  []place
	rooms rooms
}

// New returns a Policy with options o; every combination is valid.
func New(o Options) *Policy { return &Policy{o: o} }

type place struct {
	key   float64
	index int
}

// Remember saves and restores the policy's state (policy.Rememberer).
func (q *Policy) Remember(m *memory.Codec) {
	if q.o.Memory != nil {
		m.Fields(q.o.Memory)
	}
}

// Traits implements policy.Policy. Steady is false if plans can change with time alone, because of Order, Gate,
// Reservations or Moves. Keeps is true only without preemption: plans then depend only on free GPUs and waiting jobs.
func (q *Policy) Traits() policy.Traits {
	o := &q.o
	steady := o.Order == nil && o.Gate == nil && o.Reservations == 0 && !o.Moves
	return policy.Traits{Models: true, Classes: o.Classes, Steady: steady, Keeps: steady && !o.Preempt, IgnoresProgress: steady && !o.Preempt}
}

// Plan implements policy.Policy. For n jobs it takes time O(n), or O(n log n) with an Order.
func (q *Policy) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("queue: round %d: %w", s.Round, err)
	}
	r := q.newLine(s)
	r.Keep(func(j *policy.Job) bool {
		return !q.o.Preempt || j.NoCheckpoint && !q.o.Weighs
	})
	q.lineUp(r)
	if q.o.ByNode && q.o.Reservations <= 1 && len(q.line) > 0 {
		r.packed = newPacking(r.Round)
	}
	q.serve(r)
	if !q.o.Preempt {
		r.stay(&q.rooms)
	}
	return r.Plan(), nil
}

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
		if waiting > 0 && d.Why.Kind == policy.WaitNoCapacity { // it needs more than GPUs
			d.Why = policy.Reason{Kind: policy.WaitOrder, Value: float64(waiting), Limit: d.Why.Limit}
		}
		if d.Why.Kind == policy.WaitNoCapacity && q.served(r, k) {
			d.Why.Kind = policy.WaitServed
		}
		waiting++
	}
}

func (q *Policy) served(r *line, k int) bool {
	j := r.Snapshot.Jobs[q.line[k].index]
	return q.o.Preempt && slices.ContainsFunc(q.line[:k], func(p place) bool {
		a := &r.Plan().Jobs[p.index].Allocation
		return !a.IsZero() && slices.ContainsFunc(r.Types, func(t cluster.TypeInfo) bool { return a.Has(t.Type) && grant.Usable(j, &t) })
	})
}
