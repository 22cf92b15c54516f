package queue

import (
	"math"
	"time"

	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
)

// A reservation is for a waiting job that does not fit, on the GPU type on which it is estimated to
// end first. Jobs behind it may start only if they do not delay it. More than one is conservative
// backfilling. Source: EASY §2 (Lifka 1995, backfilling with one reservation, for the head alone).
type reservation struct {
	t     int
	in    time.Duration // from now to its start
	lasts time.Duration
	gpus  int
	extra int // GPUs of the type that it leaves free then
}

func (r *line) reserve(i int) {
	if r.packed != nil {
		r.expect(i)
		return
	}
	if r.profiles == nil {
		r.profile()
	}
	j, best := r.Snapshot.Jobs[i], (*reservation)(nil)
	for t := range r.Types {
		if !grant.Usable(j, &r.Types[t]) {
			continue
		}
		gpus := grant.Gang(j, &r.Types[t]).GPUs
		took, _ := r.lasts(i, t)
		in, ok := r.profiles[t].earliest(gpus, took)
		if ok && (best == nil || in+took < best.in+best.lasts) {
			best = &reservation{t: t, in: in, lasts: took, gpus: gpus}
		}
	}
	if best == nil {
		return
	}
	p := &r.profiles[best.t]
	p.take(best.gpus, best.in, best.lasts)
	if r.reserved++; r.reserved == 1 {
		r.head, best.extra = best, (*p)[p.cut(best.in)].free
	}
}

func (r *line) profile() {
	ends := make([][]step, len(r.Types))
	for i := range r.Plan().Jobs {
		a := &r.Plan().Jobs[i].Allocation
		for t := range r.Types {
			if a.GPUs > 0 && a.GPUType == r.Types[t].Type {
				ends[t] = append(ends[t], step{r.endsIn(i), a.GPUs})
			}
		}
	}
	r.profiles = make([]profile, len(r.Types))
	for t := range r.Types {
		r.profiles[t] = newProfile(r.Free(t), ends[t])
	}
}

// endsIn returns the estimated time to a job's end, at least a round, because its GPUs are not free
// now.
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

func (r *line) lasts(i, t int) (time.Duration, bool) {
	j := r.Snapshot.Jobs[i]
	rate, _ := j.Speed(grant.Gang(j, &r.Types[t]))
	b := r.Snapshot.Basis(j)
	left, from := b.Time(rate)
	return min(left+j.RestartOverhead, perf.Endless), from > perf.FromAttained
}

func (r *line) allows(i, t, gpus int) bool {
	if r.profiles == nil {
		return true
	}
	took, known := r.lasts(i, t)
	if !known {
		took = perf.Endless
	}
	in, ok := r.profiles[t].earliest(gpus, took)
	return ok && in == 0
}

func (r *line) uses(i int) {
	a := &r.Plan().Jobs[i].Allocation
	if r.packed != nil && a.GPUs > 0 {
		r.settle(i, r.Snapshot.Cluster.TypeIndex(a.GPUType))
		return
	}
	if r.profiles == nil || a.GPUs == 0 {
		return
	}
	for t := range r.Types {
		if r.Types[t].Type != a.GPUType {
			continue
		}
		ends := r.endsIn(i)
		r.profiles[t].take(a.GPUs, 0, ends)
		if r.head != nil && r.head.t == t && ends > r.head.in {
			r.head.extra -= a.GPUs
		}
	}
}

func (r *line) holdBack(i int) {
	if r.head == nil {
		return
	}
	j := r.Snapshot.Jobs[i]
	gpus := float64(grant.Requested(j))
	if r.packed != nil || r.delaysHead(i) {
		r.Plan().Jobs[i].Why = policy.Reason{Kind: policy.WaitBackfill, Value: math.Round(r.head.in.Seconds()), Limit: gpus}
		return
	}
	r.Plan().Jobs[i].Why = policy.Reason{Kind: policy.WaitOrder, Value: float64(r.reserved), Limit: gpus}
}

func (r *line) delaysHead(i int) bool {
	j, t := r.Snapshot.Jobs[i], &r.Types[r.head.t]
	if !grant.Usable(j, t) {
		return false
	}
	took, known := r.lasts(i, r.head.t)
	return grant.Gang(j, t).GPUs > r.head.extra && (!known || took > r.head.in)
}

type line struct {
	*grant.Round
	largest int
	moves   bool         // running jobs may move to a faster type if that pays for the restart
	head    *reservation // of the first job that does not fit; nil: all fit

	packed   *packing  // nil: by the GPUs of types
	profiles []profile // of free GPUs by type, once a job does not fit
	reserved int
}

func (q *Policy) newLine(s *policy.Snapshot) *line {
	r := &line{Round: grant.NewGated(s, q.o.Gate, q.o.Preempt), moves: q.o.Moves}
	for i := range r.Types {
		r.largest = max(r.largest, r.Types[i].GPUs)
	}
	return r
}

func (r *line) grant(i int) bool {
	j := r.Snapshot.Jobs[i]
	best, widest, bestSpeed, held := -1, -1, 0.0, false
	for t := range r.Types {
		if !grant.Usable(j, &r.Types[t]) {
			continue
		}
		if widest < 0 || r.Free(t) > r.Free(widest) {
			widest = t
		}
		if r.Free(t) < grant.Size(j, r.Types[t].Type) {
			continue
		}
		if may, later := r.startable(i, t); !may {
			held = held || later
			continue
		}
		v := grant.Goodput(j, grant.Gang(j, &r.Types[t]))
		if j.Holding() && j.Allocation.GPUType == r.Types[t].Type {
			if !r.moves {
				best = t // a move would cost a restart
				break
			}
			v *= r.restartGain(j, v)
		}
		if best < 0 || v > bestSpeed || v == bestSpeed && r.Free(t) > r.Free(best) {
			best, bestSpeed = t, v
		}
	}
	switch {
	case best < 0 && held:
		r.holdBack(i)
		return false
	case best < 0:
		least := 0
		if widest >= 0 {
			least = grant.Size(j, r.Types[widest].Type)
		}
		r.Lacks(i, widest, least)
		return false
	}
	return r.Assign(i, best, grant.Gang(j, &r.Types[best]))
}

func (r *line) startable(i, t int) (may, later bool) {
	if r.packed != nil {
		at, held := r.fit(i, t)
		return at != nil, held
	}
	may = r.allows(i, t, grant.Size(r.Snapshot.Jobs[i], r.Types[t].Type))
	return may, !may
}

// restartGain returns the factor by which another type must be faster than job j's type, with
// goodput v, for a move to pay: it costs j's restart and the restart of the job that makes room.
func (r *line) restartGain(j *policy.Job, v float64) float64 {
	b := r.Snapshot.Basis(j)
	left, from := b.Time(v)
	if after := left - 2*j.RestartOverhead; from == perf.FromStated && after > 0 {
		return float64(left) / float64(after)
	}
	return math.Inf(1)
}
