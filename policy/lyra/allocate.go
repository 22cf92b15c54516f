package lyra

import (
	"cmp"
	"context"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/lyra/allocate"
)

type sharing struct {
	*demands
	prices []float64 // by type, from phase two
}

func (s *sharing) allocate(ctx context.Context) error {
	s.aim()
	for k := range s.pairs {
		if err := s.shareOut(ctx, k); err != nil {
			return err
		}
	}
	return nil
}

func (s *sharing) shareOut(ctx context.Context, k int) error {
	at := s.pairs[k]
	jobs := s.policy.jobs[:0]
	var who []*tenant
	watch := s.foresee(at)
	for _, t := range s.tenants {
		if t.pair == k && len(t.base) > 0 && !t.pinned && !t.reclaimed && !t.elastic() {
			continue // it keeps what it has
		}
		if j, ok := s.asks(t, k); ok {
			if t.pair == none && j.Fungible && !watch.lasts(&j) {
				j.Fungible, j.Heterogeneous = false, false
			}
			jobs, who = append(jobs, j), append(who, t)
		}
	}
	s.policy.jobs = jobs
	o := s.policy.o.Allocate
	o.TrainingFirst = !s.policy.o.Group
	plan, err := s.policy.allocator.Allocate(ctx, jobs, s.capacity(at), o)
	if err != nil {
		return err
	}
	for side, t := range at {
		if t != none {
			s.prices[t] = plan.Prices[side]
		}
	}
	for i, g := range plan.Grants {
		s.granted(who[i], k, g, plan.Ahead[i], plan.Left[allocate.Training].Free)
	}
	return nil
}

func (s *sharing) granted(t *tenant, k int, g allocate.Grant, ahead, left int) {
	switch {
	case g.Why == allocate.Runs:
		t.pair, t.want = k, g.Has
	case t.refused.Kind == policy.Unexplained:
		t.refused = s.refusal(t, s.pairs[k], ahead, left)
	}
}

func (s *sharing) asks(t *tenant, k int) (allocate.Job, bool) {
	at := s.pairs[k]
	switch {
	case t.pinned || t.reclaimed || t.unplaced:
		return allocate.Job{}, false
	case t.pair == none && (t.aim == none || t.aim == k) && s.belongs(t, at):
		s.demand(t, at[allocate.Training])
	case t.pair != k:
		return allocate.Job{}, false
	}
	if t.least == 0 {
		return allocate.Job{}, false
	}
	j := allocate.Job{ID: t.ID, GPUs: t.unit, Min: t.least, Max: t.top, Work: t.remainingWork(), Speed: t.speed(), Fungible: s.fungible(t, at[allocate.Loaned])}
	if t.pair != none {
		j.Has = s.has(t)
	}
	if j.Heterogeneous = j.Has.Mixed() || j.Fungible && s.mixes(t, at); j.Heterogeneous {
		j.MixedSpeed = cmp.Or(t.MixedSpeed, 1)
	}
	j.Fungible = j.Fungible || j.Has[allocate.Loaned] > 0
	return j, true
}

func (s *sharing) refusal(t *tenant, at pair, ahead, left int) policy.Reason {
	own := at[allocate.Training]
	need := s.gpus(t, own, t.least)
	if ahead > 0 {
		return policy.Reason{Kind: policy.WaitOrder, Value: float64(ahead), Limit: float64(need)}
	}
	return policy.Reason{Kind: policy.WaitNoCapacity, Config: s.types[own].Fewest(need), Value: float64(left), Limit: float64(need)}
}

type watch struct {
	every    time.Duration
	expected []int // servers on loan, by interval from now
	needed   []int // servers with base workers, likewise
	perNode  int
	worth    int // GPUs equivalent to one training GPU
}

func (s *sharing) foresee(at pair) *watch {
	lent := at[allocate.Loaned]
	if lent == none || !s.policy.o.Foresee {
		return nil
	}
	w := &watch{perNode: s.types[lent].PerNode, worth: s.perGPU(lent)}
	if w.expected, w.every = s.expected(lent); w.expected == nil {
		return nil
	}
	w.needed = make([]int, len(w.expected))
	for n := range s.nodes {
		if h := &s.nodes[n]; h.t == lent && h.base > 0 {
			w.add(1, h.ends.Sub(s.s.Now))
		}
	}
	return w
}

// expected returns the servers of a type that owners expect to lend, by the intervals of the first owner with
// an expectation; nil if there is none. Servers of owners without one stay.
func (s *sharing) expected(lent int) (all []int, every time.Duration) {
	var owners []*cluster.Loan
	for i := range s.s.Loans {
		l := &s.s.Loans[i]
		if l.Node.GPUType != s.types[lent].Type {
			continue
		}
		if owners = append(owners, l); all == nil && len(l.Expected) > 0 {
			all, every = make([]int, len(l.Expected)), l.Every
		}
	}
	for k := range all {
		for _, l := range owners {
			if n := len(l.Expected); n > 0 {
				all[k] += l.Expected[min(n-1, int(time.Duration(k)*every/max(1, l.Every)))]
			} else {
				all[k] += l.Lent
			}
		}
	}
	return all, every
}

func (w *watch) add(servers int, long time.Duration) {
	for k := range w.needed {
		if time.Duration(k)*w.every < long {
			w.needed[k] += servers
		}
	}
}

func (w *watch) lasts(j *allocate.Job) bool {
	if w == nil {
		return true
	}
	long := j.Work / time.Duration(j.Min)
	servers := (j.Min*j.GPUs*w.worth + w.perNode - 1) / w.perNode
	for k := range w.needed {
		if time.Duration(k)*w.every < long && w.needed[k]+servers > w.expected[k] {
			return false
		}
	}
	w.add(servers, long)
	return true
}
