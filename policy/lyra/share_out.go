package lyra

import (
	"context"
	"slices"
	"time"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/lyra/allocate"
)

// A pair is a GPU type of the training cluster and one on loan, -1 where there is none.
type pair [2]int

// pairs returns the GPU types in pairs, in the order of the cluster. Where jobs that may run on
// loan run nowhere else, types on loan are pairs of their own.
func (r *round) pairs() []pair {
	var own, lent []int
	for t := range r.types {
		if r.lent[t] {
			lent = append(lent, t)
		} else {
			own = append(own, t)
		}
	}
	if r.p.o.Loan == Opportunity {
		own, lent = append(own, lent...), nil
	}
	all := make([]pair, max(len(own), len(lent)))
	for k := range all {
		all[k] = pair{-1, -1}
		if k < len(own) {
			all[k][allocate.Training] = own[k]
		}
		if k < len(lent) {
			all[k][allocate.Loaned] = lent[k]
		}
	}
	return all
}

// allocate says how many workers each job gets, pair by pair: a job that waits takes the first
// where there is room.
func (r *round) allocate(ctx context.Context) error {
	for _, at := range r.pairs() {
		if err := r.shareOut(ctx, at); err != nil {
			return err
		}
	}
	return nil
}

// shareOut shares one pair of GPU types out among the jobs on them and those that wait.
func (r *round) shareOut(ctx context.Context, at pair) error {
	var jobs []allocate.Job
	var who []*tenant
	watch := r.foresee(at)
	for _, t := range r.tenants {
		if j, ok := r.asks(t, at); ok {
			if t.t < 0 && j.Fungible {
				j.Fungible = watch.lasts(&j)
			}
			jobs, who = append(jobs, j), append(who, t)
		}
	}
	plan, err := allocate.Allocate(ctx, jobs, r.capacity(at), r.p.o.Allocate)
	if err != nil {
		return err
	}
	copy(r.prices[:], plan.Prices[:])
	for k, g := range plan.Grants {
		t := who[k]
		switch {
		case g.Why == allocate.Runs:
			side := allocate.Training
			if g.Has[allocate.Loaned] > 0 {
				side = allocate.Loaned
			}
			t.fresh, t.t, t.workers = t.fresh || t.t < 0, at[side], g.Has.Total()
		case t.refused.Kind == policy.Unexplained:
			t.refused = r.waits(t, at, g)
		}
	}
	return nil
}

// asks returns what a job asks of a pair of types; false if it has no part in it.
func (r *round) asks(t *tenant, at pair) (allocate.Job, bool) {
	own, lent := at[allocate.Training], at[allocate.Loaned]
	runs := t.t >= 0
	switch {
	case t.pinned || t.lost || t.stuck || runs && t.t != own && t.t != lent:
		return allocate.Job{}, false
	case !runs && own >= 0 && !r.belongs(t, own):
		return allocate.Job{}, false
	case !runs && own >= 0:
		r.demand(t, own)
	case !runs:
		return allocate.Job{}, false
	}
	if t.least == 0 {
		return allocate.Job{}, false
	}
	j := allocate.Job{
		ID: t.ID, GPUs: t.unit, Min: t.least, Max: t.top, Work: t.work,
		Waited: max(0, r.s.Now.Sub(t.Since)), Fungible: lent >= 0 && r.p.o.Loan != NoLoan && r.fungible(t, lent),
	}
	switch {
	case !runs:
		return j, true
	case t.t == lent:
		j.Has[allocate.Loaned], j.Fungible = r.has(t), true
	default:
		j.Has[allocate.Training] = r.has(t)
	}
	j.Waited = 0
	return j, true
}

// has returns the workers of a job that are placed.
func (r *round) has(t *tenant) int { return (t.base.GPUs() + t.flex.GPUs()) / r.gpus(t, t.t, 1) }

// belongs reports whether a job that waits may wait for a type: where jobs that may run on
// loan run nowhere else, only for one of those.
func (r *round) belongs(t *tenant, own int) bool {
	if !slices.Contains(r.lent, true) || r.p.o.Loan != Opportunity {
		return !r.lent[own]
	}
	for k := range r.types {
		if r.lent[k] && r.fungible(t, k) {
			return r.lent[own]
		}
	}
	return !r.lent[own]
}

// fungible reports whether a job may run on GPUs on loan.
func (r *round) fungible(t *tenant, lent int) bool {
	return t.Eligible(r.types[lent].Type) && t.KeepsType(r.types[lent].Type) && !t.NonPreemptive &&
		t.Equivalent(r.types[lent].Type) == int(r.perGPU(lent))
}

// capacity returns what is free of a pair of types.
func (r *round) capacity(at pair) allocate.Capacity {
	var c allocate.Capacity
	for s, t := range at {
		c[s].PerGPU = r.perGPU(t)
	}
	for n, node := range r.s.Cluster.Nodes() {
		for s, t := range at {
			if t >= 0 && r.types[t].Type == node.GPUType {
				c[s].Free += r.room.Free(n)
				c[s].Total += node.Capacity.GPUs
			}
		}
	}
	return c
}

// perGPU returns how many GPUs of a type do the work of one, as the first job says that says
// something.
func (r *round) perGPU(t int) float64 {
	if t >= 0 && r.lent[t] {
		for _, j := range r.s.Jobs {
			if n := j.Equivalents[r.types[t].Type]; n > 0 {
				return float64(n)
			}
		}
	}
	return 1
}

// waits says why a job has nothing of a pair of types.
func (r *round) waits(t *tenant, at pair, g allocate.Grant) policy.Reason {
	free, own := 0, at[allocate.Training]
	for n, node := range r.s.Cluster.Nodes() {
		if node.GPUType == r.types[own].Type {
			free += r.room.Free(n)
		}
	}
	need := r.gpus(t, own, t.least)
	if g.Why == allocate.Held || g.Why == allocate.Behind {
		return policy.Reason{Kind: policy.WaitOrder, Value: 1, Limit: float64(need)}
	}
	return policy.Reason{Kind: policy.WaitNoCapacity, Config: r.types[own].Fewest(need), Value: float64(free), Limit: float64(need)}
}

// A watch knows when servers on loan will be asked back, and until when they are needed.
type watch struct {
	on       bool
	now      time.Time
	every    time.Duration
	expected []int // servers that stay on loan, by interval from now
	needed   []int // servers that jobs need then
	perNode  int   // GPUs
}

// foresee returns the watch over the servers of a pair.
func (r *round) foresee(at pair) *watch {
	w := &watch{now: r.s.Now}
	if lent := at[allocate.Loaned]; lent >= 0 && r.p.o.Foresee {
		for i := range r.s.Loans {
			if l := &r.s.Loans[i]; l.Node.GPUType == r.types[lent].Type && len(l.Expected) > 0 && !w.on {
				w.on, w.every, w.expected = true, l.Every, l.Expected
				w.perNode = l.Node.Capacity.GPUs
			}
		}
	}
	if !w.on {
		return w
	}
	w.needed = make([]int, len(w.expected))
	for n := range r.nodes {
		if h := &r.nodes[n]; h.loaned && h.base > 0 {
			w.add(1, h.ends.Sub(r.s.Now))
		}
	}
	return w
}

// add counts servers that are needed for so long.
func (w *watch) add(servers int, long time.Duration) {
	for k := range w.needed {
		if time.Duration(k)*w.every < long {
			w.needed[k] += servers
		}
	}
}

// lasts reports whether enough servers will stay on loan until a job that waits has ended
// there, and counts it as if it went there.
func (w *watch) lasts(j *allocate.Job) bool {
	if !w.on {
		return true
	}
	long := j.Work / time.Duration(j.Max)
	servers := (j.Min*j.GPUs + w.perNode - 1) / w.perNode
	for k := range w.needed {
		if time.Duration(k)*w.every < long && w.needed[k]+servers > w.expected[k] {
			return false
		}
	}
	w.add(servers, long)
	return true
}
