package explain

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
)

type jobOrder struct {
	queue  ranking
	single int // number of first places in the queue with one job each
	offers map[cluster.GPUType]*ranking
	// displaced are jobs with GPUs in the plan and no placement. WaitOrder does not count them as ahead.
	displaced []string
	holders   map[cluster.GPUType]*holders
}

type ranking struct {
	names  []string
	values []float64
}

type holders struct {
	pinned []string // not preemptible
	free   []string
}

func (h *holders) jobs() int { return len(h.pinned) + len(h.free) }

func (h *holders) text(n int, t cluster.GPUType, others, tie bool) string {
	which := map[bool]string{false: "all ", true: "the other "}[others]
	if n == 1 {
		return strings.Replace(which, "all", "the", 1) + strings.TrimPrefix(gpus(1, t), "1 ") + " is held by " + h.who(tie)
	}
	return which + gpus(n, t) + " are held by " + h.who(tie)
}

func (h *holders) who(tie bool) string {
	all := slices.Concat(h.pinned, h.free)
	names := " (" + named(all, len(all)) + ")"
	gain := "more"
	if tie {
		gain = "as much"
	}
	switch {
	case len(all) == 1 && len(h.pinned) == 1:
		return "a job that cannot be preempted" + names
	case len(h.free) == 0:
		return "jobs that cannot be preempted" + names
	case len(all) == 1:
		return "a job that gains " + gain + " from them" + names
	case len(h.pinned) == 0:
		return "jobs that gain " + gain + " from them" + names
	}
	return fmt.Sprintf("%d jobs, %d of them not preemptible%s", len(all), len(h.pinned), names)
}

func (w *clusterState) order() *jobOrder { return orderOf(maps.Values(w.jobs)) }

func orderOf(jobs iter.Seq[*row]) *jobOrder {
	o := &jobOrder{offers: make(map[cluster.GPUType]*ranking), holders: make(map[cluster.GPUType]*holders)}
	waiting, holding := ranked(jobs)
	for _, x := range waiting {
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
	for _, x := range holding {
		o.hold(x.row, x.row.holds.GPUType)
		if x.row.holds.Mixed() {
			o.hold(x.row, x.row.holds.Also.GPUType)
		}
	}
	return o
}

func (o *jobOrder) hold(r *row, t cluster.GPUType) {
	h := o.holders[t]
	if h == nil {
		h = &holders{}
		o.holders[t] = h
	}
	if r.spec.NonPreemptive || !r.spec.Reservation.IsZero() {
		h.pinned = append(h.pinned, Called(r.spec))
	} else {
		h.free = append(h.free, Called(r.spec))
	}
}

type rankedRow struct {
	rank float64
	row  *row
}

func ranked(jobs iter.Seq[*row]) (waiting, holding []rankedRow) {
	for r := range jobs {
		switch {
		case !r.holds.IsZero():
			holding = append(holding, rankedRow{-float64(r.holds.AllGPUs()), r})
		case r.ruled:
			rank := -r.why.Value
			if at, queued := place(r.why); queued {
				rank = at
			}
			waiting = append(waiting, rankedRow{rank, r})
		}
	}
	for _, all := range [][]rankedRow{waiting, holding} {
		slices.SortFunc(all, func(a, b rankedRow) int {
			return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.row.spec.ID, b.row.spec.ID))
		})
	}
	return waiting, holding
}

func (k *ranking) add(r *row, value float64) {
	k.names, k.values = append(k.names, Called(r.spec)), append(k.values, value)
}

func (k *ranking) single() (n int) {
	for n < len(k.values) && k.values[n] == float64(n) && (n+1 == len(k.values) || k.values[n+1] > k.values[n]) {
		n++
	}
	return n
}

func place(why policy.Reason) (ahead float64, queued bool) {
	switch why.Kind {
	case policy.WaitNoCapacity, policy.WaitServed, policy.WaitPriority, policy.WaitShare:
		return 0, true
	case policy.WaitOrder:
		return why.Value, true
	default:
		return 0, false
	}
}

func needsOrder(why policy.Reason) bool {
	_, queued := place(why)
	return queued || why.Kind == policy.WaitPrice
}

func (o *jobOrder) others(s *explainContext) {
	switch s.why.Kind {
	case policy.WaitPrice:
		s.rivals = o.rivals(s.why)
	case policy.WaitOrder:
		s.ahead, s.displaced = o.ahead(s.why), o.displaced
	case policy.WaitNoCapacity, policy.WaitServed, policy.WaitPriority, policy.WaitShare:
		s.displaced = o.displaced
	default:
		return
	}
	s.holders = o.holders[s.why.Config.GPUType]
}

func (o *jobOrder) rivals(why policy.Reason) []string {
	k := o.offers[why.Config.GPUType]
	if k == nil {
		return nil
	}
	return k.names[:sort.Search(len(k.values), func(i int) bool { return !offersMore(-k.values[i], why.Value) })]
}

// ahead returns the jobs ahead in the queue, in order; nil if two share a place or a place is empty.
func (o *jobOrder) ahead(why policy.Reason) []string {
	if int(why.Value) > o.single {
		return nil
	}
	return o.queue.names[:sort.SearchFloat64s(o.queue.values, why.Value)]
}

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
