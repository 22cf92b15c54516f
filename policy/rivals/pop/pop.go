package pop

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
)

// How nodes and jobs are split.
const (
	Random   = "random"   // parts have equally many nodes and equally many jobs, drawn at random
	Balanced = "balanced" // parts have about equally many GPUs, and jobs that request about equally many
)

// Options configure POP.
type Options struct {
	Parts int    // number of parts, k; default 4 (§4.1, POP-4)
	Split string // Random or Balanced; default Random (§4.1)
	Seed  uint64 // seed of Random; default 1
}

// DefaultOptions returns four parts, drawn at random (POP-4).
func DefaultOptions() Options { return Options{Parts: 4, Split: Random, Seed: 1} }

func (o *Options) validate() error {
	var errs []error
	if o.Parts < 1 || o.Parts > 4096 {
		errs = append(errs, fmt.Errorf("parts %d, want 1 to 4096", o.Parts))
	}
	if o.Split != Random && o.Split != Balanced {
		errs = append(errs, fmt.Errorf("split %q, want %q or %q", o.Split, Random, Balanced))
	}
	return errors.Join(errs...)
}

// A Policy is POP: it divides the cluster into parts, each planned by another policy.
type Policy struct {
	parts
	inner    []policy.Policy
	clusters []*cluster.Cluster // last passed to inner
	computed []any              // results of parts, not yet passed on
}

// New returns a policy that plans each part with another policy, made by inner.
func New(o Options, inner func() (policy.Policy, error)) (*Policy, error) {
	if err := o.validate(); err != nil {
		return nil, fmt.Errorf("pop: %w", err)
	}
	p := &Policy{parts: newParts(o), clusters: make([]*cluster.Cluster, o.Parts), computed: make([]any, o.Parts)}
	for range o.Parts {
		in, err := inner()
		if err != nil {
			return nil, fmt.Errorf("pop: %w", err)
		}
		p.inner = append(p.inner, in)
	}
	return p, nil
}

// Traits implements policy.Policy. The policy neither rents nor borrows nodes, and may move a job to another part of
// the cluster in every round.
func (p *Policy) Traits() policy.Traits {
	t := p.inner[0].Traits()
	t.Rents, t.Borrows, t.Steady, t.Keeps, t.IgnoresProgress = false, false, false, false, false
	return t
}

// Plan implements policy.Policy.
func (p *Policy) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	p.dealNodes(s.Cluster)
	p.dealJobs(s)
	p.dealResults(s.Computed)
	plan, works := &policy.Plan{Jobs: make([]policy.Decision, len(s.Jobs))}, make([]policy.Work, len(p.inner))
	prices := newPrices(s.Cluster.Types())
	for part := range p.inner {
		if p.joined(part) != part {
			continue
		}
		sub, at := p.snapshot(s, part)
		if sub == nil {
			continue
		}
		got, err := p.inner[part].Plan(ctx, sub)
		if err != nil {
			return nil, fmt.Errorf("pop: part %d: %w", part, err)
		}
		works[part] = got.Background
		if sub.Cluster == s.Cluster {
			got.Background = together(works)
			return got, nil
		}
		if len(got.Jobs) != len(at) {
			return nil, fmt.Errorf("pop: part %d: %d decisions for %d jobs", part, len(got.Jobs), len(at))
		}
		for i, d := range got.Jobs {
			plan.Jobs[at[i]] = d
		}
		prices.add(sub.Cluster, got.Prices)
		plan.Fungible = plan.Fungible || got.Fungible // of every part
		plan.Stats.Iterations += got.Stats.Iterations
		plan.Stats.Objective += got.Stats.Objective
		plan.Stats.Bound += got.Stats.Bound
		plan.Stats.Interrupted = plan.Stats.Interrupted || got.Stats.Interrupted
		plan.Stats.Failed = cmp.Or(plan.Stats.Failed, got.Stats.Failed)
	}
	plan.Background = together(works)
	plan.Prices = prices.means()
	plan.Stats.Gap = policy.Gap(plan.Stats.Objective, plan.Stats.Bound)
	return plan, nil
}

func (p *Policy) snapshot(s *policy.Snapshot, part int) (sub *policy.Snapshot, at []int) {
	for i, j := range s.Jobs {
		if p.joined(p.job[j.ID]) == part {
			at = append(at, i)
		}
	}
	c := p.cut(s.Cluster, part)
	if c == nil {
		return nil, nil
	}
	cut := *s
	cut.Cluster, cut.Jobs, cut.Computed = c, make([]*policy.Job, len(at)), p.result(part)
	for i, from := range at {
		cut.Jobs[i] = s.Jobs[from]
	}
	return &cut, at
}

func (p *Policy) cut(whole *cluster.Cluster, part int) *cluster.Cluster {
	last := p.clusters[part]
	left, same := 0, last != nil
	for _, n := range whole.Nodes() {
		if p.joined(p.node[n.ID]) != part {
			continue
		}
		same = same && left < len(last.Nodes()) && last.Nodes()[left] == n
		left++
	}
	switch {
	case left == 0:
		p.clusters[part] = nil
	case left == len(whole.Nodes()):
		p.clusters[part] = whole
	case !same || left != len(last.Nodes()):
		p.clusters[part] = whole.Without(func(id cluster.NodeID) bool { return p.joined(p.node[id]) != part })
	}
	return p.clusters[part]
}

type prices struct {
	types []cluster.TypeInfo
	sum   []policy.TypePrice
	gpus  []float64
}

func newPrices(types []cluster.TypeInfo) *prices {
	return &prices{types, make([]policy.TypePrice, len(types)), make([]float64, len(types))}
}

func (p *prices) add(part *cluster.Cluster, of []policy.TypePrice) {
	for _, price := range of {
		for k := range p.types {
			if p.types[k].Type != price.Type {
				continue
			}
			if info, ok := part.Type(price.Type); ok {
				gpus, sum := float64(info.GPUs), &p.sum[k]
				sum.Price, sum.CPU, sum.Memory = sum.Price+gpus*price.Price, sum.CPU+gpus*price.CPU, sum.Memory+gpus*price.Memory
				p.gpus[k] += gpus
			}
		}
	}
}

func (p *prices) means() []policy.TypePrice {
	var all []policy.TypePrice
	for k, t := range p.types {
		if p.gpus[k] > 0 {
			sum, gpus := p.sum[k], p.gpus[k]
			all = append(all, policy.TypePrice{Type: t.Type, Price: sum.Price / gpus, CPU: sum.CPU / gpus, Memory: sum.Memory / gpus})
		}
	}
	return all
}
