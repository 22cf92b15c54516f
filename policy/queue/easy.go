package queue

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/oxgang/oxgang/perf/remaining"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
)

// A reservation is for the first job in the queue that does not fit: it names the GPU type on
// which the job is believed to end first, and when enough GPUs of it will be free. Jobs behind
// it may start only if they do not delay that. Source: EASY §2 (Lifka 1995, backfilling with
// one reservation, for the head alone).
type reservation struct {
	t     int           // GPU type
	in    time.Duration // from now until its GPUs are free
	extra int           // GPUs of the type that it leaves over then
}

// reserveHead makes a reservation for job i, which does not fit now. On each type that can
// carry it, running jobs end one after another, by what is believed of them, until there are
// enough GPUs; of these the type is taken on which the job itself ends first.
func (r *line) reserveHead(i int) *reservation {
	j, best, end := r.Snapshot.Jobs[i], (*reservation)(nil), remaining.Endless
	for t := range r.Types {
		if !grant.Usable(j, &r.Types[t]) {
			continue
		}
		a := grant.Gang(j, &r.Types[t])
		in, extra, ok := r.freeAt(t, a.GPUs)
		if !ok {
			continue
		}
		took, _ := r.lasts(i, t)
		if best == nil || in+took < end {
			best, end = &reservation{t, in, extra}, in+took
		}
	}
	return best
}

// freeAt returns when so many GPUs of type t will be free, and how many more then are.
func (r *line) freeAt(t, gpus int) (in time.Duration, extra int, ok bool) {
	type leaving struct {
		in   time.Duration
		gpus int
	}
	var ends []leaving
	for i := range r.Plan().Jobs {
		if a := &r.Plan().Jobs[i].Allocation; a.GPUs > 0 && a.GPUType == r.Types[t].Type {
			ends = append(ends, leaving{r.endsIn(i), a.GPUs})
		}
	}
	slices.SortStableFunc(ends, func(a, b leaving) int { return cmp.Compare(a.in, b.in) })
	free := r.Free(t)
	for k := 0; free < gpus && k < len(ends); k++ {
		in, free = ends[k].in, free+ends[k].gpus
		for k+1 < len(ends) && ends[k+1].in == in {
			k++
			free += ends[k].gpus
		}
	}
	return in, free - gpus, free >= gpus
}

// endsIn returns in how long a job that is granted GPUs is believed to end: at least a
// round, for its GPUs are not free now.
func (r *line) endsIn(i int) time.Duration {
	j, a := r.Snapshot.Jobs[i], r.Plan().Jobs[i].Allocation
	rate, _ := j.Speed(a)
	b := r.Snapshot.Basis(j)
	left, _ := b.Time(rate)
	if !a.SameGPUs(&j.Allocation) {
		left += j.RestartOverhead
	}
	return max(left, r.Snapshot.Length)
}

// lasts returns how long job i would need on its gang of type t, its start included, and
// whether that is known.
func (r *line) lasts(i, t int) (time.Duration, bool) {
	j := r.Snapshot.Jobs[i]
	rate, _ := j.Speed(grant.Gang(j, &r.Types[t]))
	b := r.Snapshot.Basis(j)
	left, from := b.Time(rate)
	return min(left+j.RestartOverhead, remaining.Endless), from > remaining.Attained
}

// lets reports whether job i may start on its gang of type t without delaying the reservation:
// on another type, if it is known to end before, or on GPUs that are left over.
func (r *line) lets(i, t, gpus int) bool {
	if r.head == nil || r.head.t != t || gpus <= r.head.extra {
		return true
	}
	took, known := r.lasts(i, t)
	return known && took <= r.head.in
}

// uses subtracts the GPUs of a job that passed, and will still run when the reservation begins,
// from the GPUs that the reservation leaves over.
func (r *line) uses(i int) {
	a := &r.Plan().Jobs[i].Allocation
	if r.head == nil || a.GPUs == 0 || r.Types[r.head.t].Type != a.GPUType || r.endsIn(i) <= r.head.in {
		return
	}
	r.head.extra -= a.GPUs
}

// holdBack says of a job that would fit, but for the reservation, why it waits.
func (r *line) holdBack(i int) {
	j := r.Snapshot.Jobs[i]
	r.Plan().Jobs[i].Why = policy.Reason{Kind: policy.WaitBackfill, Value: math.Round(r.head.in.Seconds()), Limit: float64(grant.Requested(j))}
}
