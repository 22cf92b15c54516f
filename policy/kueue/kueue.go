package kueue

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
)

// Options configure a Policy. ParseQueues reads Queues from text. Jobs of queues that are not listed are admitted at
// once.
type Options struct{ Queues []ClusterQueue }

// A Policy makes the decisions of Kueue and kube-scheduler in simulations. It stores which jobs are admitted. It is not
// safe for concurrent use.
type Policy struct {
	o        Options
	admitted map[job.ID]admission
	next     int
}

type admission struct {
	flavor int // below 0: its queue has no quotas
	number int
}

// New returns a Policy that has admitted no job.
func New(o Options) *Policy { return &Policy{o: o, admitted: make(map[job.ID]admission)} }

// Traits implements policy.Policy.
func (*Policy) Traits() policy.Traits { return policy.Traits{} }

type round struct {
	*grant.Round
	*ledger
	nodes  []node
	closed []bool // types on which nothing may start, because the placer must find nodes first
	line   []int  // undecided jobs by priority, then submission
	before []int  // by admitted job without nodes: the number of such jobs admitted before it
}

// Plan implements policy.Policy. Its time is linear in jobs times nodes, and quadratic in queues.
func (p *Policy) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("kueue: round %d: %w", s.Round, err)
	}
	p.admitted = policy.Forget(s, p.admitted)
	r := &round{Round: grant.NewRound(s), ledger: newLedger(p.o.Queues)}
	r.KeepRunning()
	r.closed = r.Stay()
	r.nodes = occupy(s, r.Plan())
	r.lineUp()
	p.charge(r)
	p.cycles(r)
	p.place(r)
	p.explain(r)
	return r.Plan(), nil
}

func (r *round) lineUp() {
	for i := range r.Snapshot.Jobs {
		if !r.Decided(i) {
			r.line = append(r.line, i)
		}
	}
	slices.SortStableFunc(r.line, func(a, b int) int {
		return cmp.Compare(r.Snapshot.Jobs[b].Priority, r.Snapshot.Jobs[a].Priority)
	})
}

func (r *round) queue(j *policy.Job) int {
	if q, ok := r.index[j.Queue]; ok {
		return q
	}
	return -1
}

// charge counts the quota of running and admitted jobs. A running job that is not admitted uses the
// first flavor with its GPU type.
func (p *Policy) charge(r *round) {
	for i, j := range r.Snapshot.Jobs {
		d, q := &r.Plan().Jobs[i], r.queue(j)
		a, known := p.admitted[j.ID]
		if held := !d.Allocation.IsZero(); held && !known {
			a = admission{flavor: -1, number: p.number()}
			if q >= 0 {
				a.flavor = slices.IndexFunc(r.queues[q].Flavors, func(f Flavor) bool { return f.has(d.Allocation.GPUType) })
			}
			p.admitted[j.ID], known = a, true
		}
		if known && q >= 0 && a.flavor >= 0 {
			r.used[q][a.flavor] += cmp.Or(d.Allocation.GPUs, grant.Requested(j))
		}
	}
}

func (p *Policy) number() int {
	p.next++
	return p.next
}

func (p *Policy) place(r *round) {
	line := slices.DeleteFunc(slices.Clone(r.line), func(i int) bool {
		_, ok := p.admitted[r.Snapshot.Jobs[i].ID]
		return !ok
	})
	slices.SortFunc(line, func(a, b int) int {
		return cmp.Compare(p.admitted[r.Snapshot.Jobs[a].ID].number, p.admitted[r.Snapshot.Jobs[b].ID].number)
	})
	r.before = make([]int, len(r.Snapshot.Jobs))
	n := 0
	for _, i := range line {
		r.bind(i, p.admitted[r.Snapshot.Jobs[i].ID].flavor)
		if r.before[i] = n; !r.Decided(i) {
			n++
		}
	}
}

func (r *round) flavored(j *policy.Job, k int, t cluster.GPUType) bool {
	q := r.queue(j)
	return q < 0 || k < 0 || r.queues[q].Flavors[k].has(t)
}

func (p *Policy) explain(r *round) {
	ahead := make(map[string]int)
	for _, i := range r.line {
		j, d := r.Snapshot.Jobs[i], &r.Plan().Jobs[i]
		if r.Decided(i) {
			continue
		}
		n := ahead[j.Queue]
		ahead[j.Queue]++
		if _, ok := p.admitted[j.ID]; ok || r.queue(j) < 0 {
			p.unplaced(r, i)
			continue
		}
		k, widest := r.widest(i)
		switch {
		case k < 0:
			d.Why = policy.Reason{Kind: policy.Impossible, Config: cluster.Configuration{Nodes: 1, GPUs: grant.Requested(j)}}
		case n > 0 && widest >= grant.Requested(j):
			d.Why = policy.Reason{Kind: policy.WaitOrder, Value: float64(n), Limit: float64(grant.Requested(j))}
		default:
			d.Why = policy.Reason{Kind: policy.WaitQuota, Config: cluster.Configuration{Nodes: 1, GPUs: grant.Requested(j)}, Value: float64(max(0, widest)), Limit: float64(grant.Requested(j))}
		}
	}
}

func (p *Policy) unplaced(r *round, i int) {
	d := &r.Plan().Jobs[i]
	t, size := r.roomiest(i, p.admitted[r.Snapshot.Jobs[i].ID].flavor)
	r.Lacks(i, t, size)
	if d.Why.Kind != policy.WaitNoCapacity {
		return
	}
	switch {
	case r.before[i] > 0:
		d.Why = policy.Reason{Kind: policy.WaitOrder, Value: float64(r.before[i]), Limit: float64(grant.Requested(r.Snapshot.Jobs[i]))}
	case d.Why.Value >= d.Why.Limit:
		d.Why = policy.Reason{Kind: policy.Evicted, Config: d.Why.Config}
	}
}

func (r *round) roomiest(i, flavor int) (t, size int) {
	j := r.Snapshot.Jobs[i]
	t = -1
	for k := range r.Types {
		if info := &r.Types[k]; grant.Usable(j, info) && r.flavored(j, flavor, info.Type) && (t < 0 || r.Free(k) > r.Free(t)) {
			t, size = k, grant.Size(j, info.Type)
		}
	}
	return t, size
}

func (r *round) widest(i int) (flavor, left int) {
	flavor = -1
	j := r.Snapshot.Jobs[i]
	q := r.queue(j)
	for k := range r.queues[q].Flavors {
		if n := r.available(q, k); r.suits(j, q, k) && r.most(q, k) >= grant.Requested(j) && (flavor < 0 || n > left) {
			flavor, left = k, n
		}
	}
	return flavor, left
}

func (r *round) suits(j *policy.Job, q, k int) bool {
	return slices.ContainsFunc(r.Types, func(t cluster.TypeInfo) bool { return r.queues[q].Flavors[k].has(t.Type) && grant.Usable(j, &t) })
}
