package allocate

import "container/heap"

// inTurn is Gandiva: running jobs keep their extra workers if phase one left room. If no job waits, elastic jobs get
// one more worker at a time, in turn. Source: Lyra §7.1, "the period when there are available resources but no
// pending jobs".
func (r *round) inTurn(who []int) {
	r.circle(who, func(j *Job) Workers { return j.Has })
	if !r.anyWaits() {
		r.circle(who, func(j *Job) Workers { return Workers{j.Max, j.Max} })
	}
}

func (r *round) anyWaits() bool {
	for i := range r.plan.Grants {
		if r.plan.Grants[i].Why != Runs {
			return true
		}
	}
	return false
}

func (r *round) circle(who []int, most func(*Job) Workers) {
	for grew := true; grew; {
		grew = false
		for _, i := range who {
			if s, ok := r.next(i, most(&r.jobs[i])); ok {
				r.take(i, s, 1)
				grew = true
			}
		}
	}
}

func (r *round) next(i int, most Workers) (Side, bool) {
	j, has := &r.jobs[i], r.plan.Grants[i].Has
	if has.Total() >= j.Max {
		return 0, false
	}
	for _, s := range loanedFirst {
		own := j.Heterogeneous || has[s] > 0
		fits := r.free[s].extra(j, has[s], has[s]+1) <= r.free[s].Free
		if own && fits && has[s] < most[s] && j.gain(has, s) > 0 {
			return s, true
		}
	}
	return 0, false
}

// byGain is AFS: one more worker at a time goes to the job of the largest gain. Source: Lyra §7.1, "allocating one
// more worker to the job with the largest throughput gain per GPU".
func (r *round) byGain(who []int) {
	var h contenders
	for _, i := range who {
		if c, ok := r.contender(i); ok {
			h = append(h, c)
		}
	}
	heap.Init(&h)
	for len(h) > 0 {
		r.award(&h)
	}
}

func (r *round) award(h *contenders) {
	first := (*h)[0]
	next, ok := r.contender(first.job)
	if ok && next == first {
		r.take(first.job, first.side, 1)
		next, ok = r.contender(first.job)
	}
	if !ok {
		heap.Pop(h)
		return
	}
	(*h)[0] = next
	heap.Fix(h, 0)
}

type contender struct {
	job  int
	side Side
	gain float64
	left float64 // seconds to its end with its present workers
}

func (r *round) contender(i int) (c contender, ok bool) {
	j, has := &r.jobs[i], r.plan.Grants[i].Has
	s, ok := r.next(i, Workers{j.Max, j.Max})
	if !ok {
		return c, false
	}
	return contender{job: i, side: s, gain: j.gain(has, s), left: j.Work.Seconds() / j.pace(has)}, true
}

type contenders []contender

func (h contenders) Len() int { return len(h) }

func (h contenders) Swap(a, b int) { h[a], h[b] = h[b], h[a] }

func (h *contenders) Push(x any) { *h = append(*h, x.(contender)) }

func (h contenders) Less(a, b int) bool {
	x, y := &h[a], &h[b]
	if x.gain != y.gain {
		return x.gain > y.gain
	}
	if x.left != y.left {
		return x.left < y.left
	}
	return x.job < y.job
}

func (h *contenders) Pop() any {
	last := len(*h) - 1
	c := (*h)[last]
	*h = (*h)[:last]
	return c
}
