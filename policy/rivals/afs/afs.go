package afs

import (
	"context"
	"fmt"
	"slices"

	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
)

// Options configure AFS-L.
type Options struct {
	// Steady changes allocations only if jobs or nodes come or go. Default true (AFS: every churn event).
	Steady bool
}

// DefaultOptions returns the default settings.
func DefaultOptions() Options { return Options{Steady: true} }

// A Policy is AFS-L, which assigns GPUs one at a time: each GPU goes to the job that wins a comparison with every other
// job.
type Policy struct {
	o            Options
	cluster      *cluster.Cluster
	free         []int // to divide, by type
	lastDivision map[job.ID]share
}

type share struct{ t, gpus int }

// New returns a Policy.
func New(o Options) *Policy { return &Policy{o: o} }

// Traits implements policy.Policy.
func (*Policy) Traits() policy.Traits {
	return policy.Traits{Models: true, Sizes: true}
}

// Plan implements policy.Policy. To divide G GPUs among n jobs takes time O(G·n).
//
// Deviation: jobs without checkpoints keep their GPUs, unless they can resize while running, because all jobs of AFS
// have checkpoints.
func (p *Policy) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("afs: round %d: %w", s.Round, err)
	}
	r := grant.NewRound(s)
	r.Keep(func(j *policy.Job) bool { return j.NoCheckpoint && !j.Resizes })
	if p.churned(s, r) {
		p.divide(s, r)
	}
	p.give(s, r)
	return r.Plan(), nil
}

func (p *Policy) churned(s *policy.Snapshot, r *grant.Round) bool {
	free := r.FreeByType()
	same := p.o.Steady && p.cluster == s.Cluster && slices.Equal(p.free, free)
	p.cluster, p.free = s.Cluster, free
	n := 0
	for i, j := range s.Jobs {
		if has, known := p.lastDivision[j.ID]; !r.Decided(i) {
			same = same && known && has.allowed(r, i)
			n++
		}
	}
	return !same || n != len(p.lastDivision)
}

func (s share) allowed(r *grant.Round, i int) bool {
	if s.gpus == 0 {
		return true
	}
	least, most, step := r.Range(i, s.t)
	return least > 0 && s.gpus >= least && s.gpus <= most && s.gpus%step == 0
}

func (p *Policy) divide(s *policy.Snapshot, r *grant.Round) {
	d := newDivision(s, r, p.free)
	for at := d.top(); at != nil; at = d.top() {
		d.grow(at)
	}
	p.lastDivision = make(map[job.ID]share, len(d.all))
	for i := range d.all {
		c := &d.all[i]
		p.lastDivision[c.job.ID] = share{c.t, c.gpus}
	}
}

func (p *Policy) give(s *policy.Snapshot, r *grant.Round) {
	for i, j := range s.Jobs {
		if has := p.lastDivision[j.ID]; !r.Decided(i) && has.gpus > 0 {
			r.Give(i, has.t, has.gpus)
		}
	}
	for i := range s.Jobs {
		if !r.Decided(i) {
			wait(r, i)
		}
	}
}

func wait(r *grant.Round, i int) {
	r.Refuse(i)
	if why := &r.Plan().Jobs[i].Why; why.Kind == policy.WaitNoCapacity && why.Value >= why.Limit {
		why.Kind = policy.WaitServed
	}
}

// Remember lets m save or restore the state that p keeps between rounds.
func (p *Policy) Remember(m *memory.Codec) {
	memory.Shared(m, &p.cluster)
	m.Fields(&p.free)
	memory.Map(m, &p.lastDivision, func(a *share, m *memory.Codec) { m.Fields(&a.t, &a.gpus) })
}
