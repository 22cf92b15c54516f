package shockwave

import (
	"context"
	"fmt"
	"slices"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/queue"
)

// A Policy plans a window of rounds ahead. Make one with New. It is not safe for
// concurrent use.
type Policy struct {
	o              Options
	accounts       map[job.ID]*account
	active         []*account // of this round, by submission
	free           []int      // GPUs by type that are to be shared out
	moved          bool       // GPUs came or went since the last round
	configurations []cluster.Configuration
	window         *window // nil: none yet
	changed        int     // last round in which something changed that a plan rests on
	failed         string  // why the last planning failed
}

// New returns a Policy, or an error that joins all complaints about o.
func New(o Options) (*Policy, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("shockwave: %w", err)
	}
	return &Policy{o: o, accounts: map[job.ID]*account{}}, nil
}

// Plan implements policy.Policy.
func (p *Policy) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("shockwave: round %d: %w", s.Round, err)
	}
	r := queue.NewRound(s) // 1. what may not be taken from anyone
	p.count(s, r)
	p.meet(s, r) // 2. who shares the rest, and what is expected of them
	p.take(s)    // 3. the window that was planned meanwhile
	p.serve(s, r)
	plan := r.Plan() // 4. who runs in this round
	p.explain(s, r, plan)
	if p.window == nil || p.window.first <= p.changed || p.window.elapsed(s.Round+1) {
		plan.Background = p.ahead(s, plan) // 5. what to do from the next round on
	}
	return plan, nil
}

// count counts the GPUs to be shared out.
func (p *Policy) count(s *policy.Snapshot, r *queue.Round) {
	var free []int
	for t := range s.Cluster.Types() {
		free = append(free, r.Free(t))
	}
	if p.moved = !slices.Equal(free, p.free); p.moved {
		p.changed = s.Round
	}
	p.free = free
}

// list returns what a job may have: its gang on each type, or, if its number of GPUs
// may be chosen, each valid configuration within its limits that no smaller one
// beats.
func (p *Policy) list(s *policy.Snapshot, r *queue.Round, a *account) []option {
	var all []option
	types := s.Cluster.Types()
	if !a.row.Adaptivity.Has(job.GPUCount) {
		for t := range types {
			if gang, ok := r.Gang(a.index, t); ok && gang.GPUs <= p.free[t] {
				all = append(all, option{kind: t, Configuration: gang.Configuration})
			}
		}
		return all
	}
	if p.configurations == nil {
		p.configurations = s.Cluster.Configurations()
	}
	best := make([]float64, len(types))
	for _, c := range p.configurations {
		t := slices.IndexFunc(types, func(t cluster.TypeInfo) bool { return t.Type == c.GPUType })
		o := option{kind: t, Configuration: c}
		if !a.may(c) || c.GPUs > p.free[t] {
			continue
		}
		if rate := a.rate(&o, 0); rate > best[t] || len(all) == 0 || all[len(all)-1].kind != t {
			best[t] = rate
			all = append(all, o)
		}
	}
	return all
}

// may reports whether a job whose number of GPUs may be chosen may have a
// configuration.
func (a *account) may(c cluster.Configuration) bool {
	j := a.row
	return j.Eligible(c.GPUType) && j.KeepsType(c.GPUType) && c.GPUs%j.ReplicaGPUs(c.GPUType) == 0 &&
		c.GPUs >= j.Min(c.GPUType) && (j.Spec.MaxGPUs == 0 || c.GPUs <= j.Spec.MaxGPUs)
}
