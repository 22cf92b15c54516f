package explain

import (
	"cmp"
	"iter"
	"maps"
	"math"
	"slices"
	"sort"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
)

// A waitingOrder has the jobs that wait, in the orders in which reasons speak of them: the queue, and for each
// GPU type what they offer for it. It is made once for the reasons of all jobs of a state.
type waitingOrder struct {
	queue  ranking
	single int // at each of so many places, from the first on, there is one job
	offers map[cluster.GPUType]*ranking
	// displaced are jobs that were granted GPUs for which there was no place. Reasons of the queue do not count
	// them among those ahead.
	displaced []string
}

// A ranking has the names of jobs and the values by which they are ranked, in ascending order.
type ranking struct {
	names  []string
	values []float64
}

// order ranks the jobs that wait. Complexity: O(n log n) for n jobs.
func (w *clusterState) order() *waitingOrder { return orderOf(maps.Values(w.jobs)) }

// orderOf ranks those of some jobs that wait. It is fastest if they come in order.
func orderOf(jobs iter.Seq[*row]) *waitingOrder {
	o := &waitingOrder{offers: make(map[cluster.GPUType]*ranking)}
	for _, x := range ranked(jobs) {
		r := x.row
		at, queued := place(r.why)
		switch {
		case queued:
			o.queue.add(r, at)
		case r.why.Kind == policy.WaitPrice:
			t := r.why.Config.GPUType
			if o.offers[t] == nil {
				o.offers[t] = &ranking{}
			}
			o.offers[t].add(r, -r.why.Value)
		case r.why.Kind == policy.Evicted:
			o.displaced = append(o.displaced, Called(r.spec))
		}
	}
	o.single = o.queue.single()
	return o
}

// ranked returns the jobs that wait by place in the queue or, highest first, by offer, then by name.
func ranked(jobs iter.Seq[*row]) []rankedRow {
	var all []rankedRow
	for r := range jobs {
		if !r.holds.IsZero() || !r.ruled {
			continue
		}
		rank := -r.why.Value
		if at, queued := place(r.why); queued {
			rank = at
		}
		all = append(all, rankedRow{rank, r})
	}
	slices.SortFunc(all, func(a, b rankedRow) int {
		if c := cmp.Compare(a.rank, b.rank); c != 0 {
			return c
		}
		return cmp.Compare(a.row.spec.ID, b.row.spec.ID)
	})
	return all
}

// A rankedRow is a job that waits, and by what it is ranked.
type rankedRow struct {
	rank float64
	row  *row
}

func (k *ranking) add(r *row, value float64) {
	k.names, k.values = append(k.names, Called(r.spec)), append(k.values, value)
}

// single returns how many places, from the first on, have one job each.
func (k *ranking) single() (n int) {
	for n < len(k.values) && k.values[n] == float64(n) && (n+1 == len(k.values) || k.values[n+1] > k.values[n]) {
		n++
	}
	return n
}

// place returns how many jobs are ahead of one in the queue: nobody, if only GPUs are lacking.
func place(why policy.Reason) (ahead float64, queued bool) {
	switch why.Kind {
	case policy.WaitNoCapacity, policy.WaitServed, policy.WaitPriority:
		return 0, true
	case policy.WaitOrder:
		return why.Value, true
	default:
		return 0, false
	}
}

// needsOrder reports whether a reason speaks of other jobs that wait.
func needsOrder(why policy.Reason) bool {
	return why.Kind == policy.WaitPrice || why.Kind == policy.WaitOrder || why.Kind == policy.WaitNoCapacity || why.Kind == policy.WaitServed || why.Kind == policy.WaitPriority
}

// others adds to a context the other jobs that its reason speaks of.
func (o *waitingOrder) others(s *explainContext) {
	switch s.why.Kind {
	case policy.WaitPrice:
		s.rivals = o.rivals(s.why)
	case policy.WaitOrder:
		s.ahead, s.displaced = o.ahead(s.why), o.displaced
	case policy.WaitNoCapacity, policy.WaitServed, policy.WaitPriority:
		s.displaced = o.displaced
	default:
	}
}

// rivals returns the names of the waiting jobs that offer more per GPU of the same type than the job
// with the reason why, those that offer most first.
func (o *waitingOrder) rivals(why policy.Reason) []string {
	k := o.offers[why.Config.GPUType]
	if k == nil {
		return nil
	}
	return k.names[:sort.Search(len(k.values), func(i int) bool { return !offersMore(-k.values[i], why.Value) })]
}

// ahead returns the names of the jobs that wait in the queue before the job with the reason why, the
// first one first; none where reasons do not say who stands at each place.
func (o *waitingOrder) ahead(why policy.Reason) []string {
	if int(why.Value) > o.single {
		return nil
	}
	return o.queue.names[:sort.SearchFloat64s(o.queue.values, why.Value)]
}

// offersMore reports whether offer a is larger than b by more than the error of solvers.
func offersMore(a, b float64) bool {
	if a == b {
		return false
	}
	if off := math.Abs(a - b); off > 1e-9 && off > 2e-8*max(math.Abs(a), math.Abs(b)) { // nine digits differ
		return a > b
	}
	_, _, same := apart(a, b)
	return !same && a > b
}
