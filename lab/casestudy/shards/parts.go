package shards

import (
	"context"
	"fmt"
	"slices"

	"github.com/oxgang/oxgang/lab/casestudy"
)

// Parts is the balancer POP-k: servers and shards are divided once, at random, into k equal parts that are balanced
// separately. A part that has hot shards remains more loaded than others. Source: thesis §5.2.1, method (d).
type Parts struct {
	k     int
	seed  uint64
	clock casestudy.Clock
	inner func() (Balancer, error)
	parts []part
}

type part struct {
	shards, servers []int
	balancer        Balancer
}

// NewParts returns a balancer with k parts, each with a balancer that inner makes. clock, which may be nil, measures
// the time of each part.
func NewParts(k int, seed uint64, clock casestudy.Clock, inner func() (Balancer, error)) (*Parts, error) {
	if k < 1 {
		return nil, fmt.Errorf("%d parts, want at least 1", k)
	}
	return &Parts{k: k, seed: seed, clock: clock, inner: inner}, nil
}

// Balance implements Balancer.
func (p *Parts) Balance(ctx context.Context, in *Instance) (*Result, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	if err := p.split(in); err != nil {
		return nil, err
	}
	out := &Result{Assignment: make(Assignment, in.Shards())}
	for n := range p.parts {
		t := &p.parts[n]
		before := p.clock.Read()
		r, err := t.balancer.Balance(ctx, t.of(in))
		if err != nil {
			return nil, fmt.Errorf("part %d of %d: %w", n+1, p.k, err)
		}
		t.put(out, r)
		out.Stats.Parts = append(out.Stats.Parts, p.clock.Read()-before)
	}
	return out, nil
}

func (t *part) of(in *Instance) *Instance {
	at := make([]int, in.Servers()) // within the part, or -1
	for i := range at {
		at[i] = -1
	}
	sub := &Instance{Epsilon: in.Epsilon}
	for k, i := range t.servers {
		at[i] = k
		sub.Memory = append(sub.Memory, in.Memory[i])
	}
	for _, j := range t.shards {
		sub.Loads = append(sub.Loads, in.Loads[j])
		sub.Sizes = append(sub.Sizes, in.Sizes[j])
		var now []Share
		for _, s := range in.Now[j] {
			if at[s.Server] >= 0 {
				now = append(now, Share{at[s.Server], s.Part})
			}
		}
		sub.Now = append(sub.Now, now)
	}
	return sub
}

func (t *part) put(whole, r *Result) {
	for k, shares := range r.Assignment {
		there := slices.Clone(shares)
		for n := range there {
			there[n].Server = t.servers[there[n].Server]
		}
		whole.Assignment[t.shards[k]] = there
	}
	s, more := &whole.Stats, &r.Stats
	s.Objective += more.Objective
	s.Bound += more.Bound
	s.Iterations += more.Iterations
	s.Sweeps += more.Sweeps
	s.Limited = s.Limited || more.Limited
	s.Zero, s.One, s.Between = s.Zero+more.Zero, s.One+more.One, s.Between+more.Between
	s.Shim.add(more.Shim)
}

func (p *Parts) split(in *Instance) error {
	if p.parts != nil {
		return nil
	}
	if p.k > in.Servers() {
		return fmt.Errorf("%d parts of %d servers, want at most one part per server", p.k, in.Servers())
	}
	shards, servers := casestudy.Split(in.Shards(), p.k, p.seed), casestudy.Split(in.Servers(), p.k, ^p.seed)
	p.parts = make([]part, p.k)
	for n := range p.parts {
		b, err := p.inner()
		if err != nil {
			return err
		}
		p.parts[n] = part{shards[n], servers[n], b}
	}
	return nil
}
