package afs

import (
	"context"
	"fmt"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
)

// Options configure the policy. DefaultOptions has the defaults.
type Options struct {
	// Steady keeps what jobs have until jobs or nodes come or go. Default true (AFS: at
	// every churn event). Without it GPUs are divided anew in every round.
	Steady bool
}

// DefaultOptions returns the defaults.
func DefaultOptions() Options { return Options{Steady: true} }

// A Policy is AFS-L. It keeps the allocations of the last division of GPUs. It is not safe for
// concurrent use. Make one with New.
type Policy struct {
	o       Options
	cluster *cluster.Cluster
	free    []int // GPUs by type that were divided
	given   map[job.ID]amount
}

// An amount is what a job was given: GPUs of a type, or none.
type amount struct{ t, gpus int }

// New returns a Policy. All Options are valid.
func New(o Options) *Policy { return &Policy{o: o} }

// Traits implements policy.Policy.
func (*Policy) Traits() policy.Traits {
	return policy.Traits{Models: true, Sizes: true}
}

// Plan implements policy.Policy. Dividing G GPUs among n jobs takes time in proportion to
// G n; another round takes time in proportion to n. The only error is that of ctx.
//
// Deviation: jobs without checkpoints keep what they hold, unless they resize while they run,
// because AFS' jobs all have checkpoints.
func (p *Policy) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("afs: round %d: %w", s.Round, err)
	}
	r := grant.NewRound(s) // 1. what may not be taken from anyone
	r.Keep(func(j *policy.Job) bool { return j.NoCheckpoint && !j.Resizes })
	if p.churned(s, r) { // 2. who came or went
		p.divide(s, r) // 3. GPU after GPU
	}
	p.give(s, r) // 4. the plan, with reasons
	return r.Plan(), nil
}

// churned reports whether other jobs are there to share other GPUs than when they were
// last divided, or one may not have its share any more.
func (p *Policy) churned(s *policy.Snapshot, r *grant.Round) bool {
	free := r.FreeByType()
	same := p.o.Steady && p.cluster == s.Cluster && slices.Equal(p.free, free)
	p.cluster, p.free = s.Cluster, free
	n := 0
	for i, j := range s.Jobs {
		if has, known := p.given[j.ID]; !r.Decided(i) {
			same = same && known && has.may(r, i)
			n++
		}
	}
	return !same || n != len(p.given)
}

// may reports whether job i may have a share: its user can change what it runs on.
func (s amount) may(r *grant.Round, i int) bool {
	if s.gpus == 0 { // of a cluster that has no GPUs, say
		return true
	}
	least, most, step := r.Range(i, s.t)
	return least > 0 && s.gpus >= least && s.gpus <= most && s.gpus%step == 0
}

// divide divides the GPUs that are free.
func (p *Policy) divide(s *policy.Snapshot, r *grant.Round) {
	d := newDivision(s, r, p.free)
	for at := d.top(); at != nil; at = d.top() {
		d.grow(at)
	}
	p.given = make(map[job.ID]amount, len(d.all))
	for i := range d.all {
		c := &d.all[i]
		p.given[c.job.ID] = amount{c.t, c.gpus}
	}
}

// give writes the plan. A job whose share is no longer one it may have gets nothing.
func (p *Policy) give(s *policy.Snapshot, r *grant.Round) {
	for i, j := range s.Jobs {
		if has := p.given[j.ID]; !r.Decided(i) && has.gpus > 0 {
			r.Give(i, has.t, has.gpus)
		}
	}
	for i := range s.Jobs {
		if !r.Decided(i) {
			wait(r, i)
		}
	}
}

// wait says why job i waits: others, which have GPUs, won the comparisons, or too few GPUs are free.
func wait(r *grant.Round, i int) {
	r.Refuse(i)
	if why := &r.Plan().Jobs[i].Why; why.Kind == policy.WaitNoCapacity && why.Value >= why.Limit {
		why.Kind = policy.WaitServed
	}
}
