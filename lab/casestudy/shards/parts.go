package shards

import (
	"context"
	"fmt"
	"slices"

	"github.com/oxgang/oxgang/lab/casestudy"
)

// parts is the balancer POP-k: servers and shards are divided once, at random, into k equal parts that are balanced
// separately. A part that has hot shards remains more loaded than others. Source: thesis §5.2.1, method (d).
type parts struct {
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

// newParts returns a balancer with k parts, each with a balancer that inner makes. clock, which may be nil, measures
// the time of each part.
func newParts(k int, seed uint64, clock casestudy.Clock, inner func() (Balancer, error)) (*parts, error) {
	if k < 1 {
		return nil, fmt.Errorf("%d parts, want at least 1", k)
	}
	return &parts{k: k, seed: seed, clock: clock, inner: inner}, nil
}

// Balance implements Balancer.
func (p *parts) Balance(ctx context.Context, in *Instance) (*Result, error) {
	if err := in.validate(); err != nil {
		return nil, err
	}
	if err := p.split(in); err != nil {
		return nil, err
	}
	out := &Result{assignment: make(assignment, in.shards())}
	for n := range p.parts {
		t := &p.parts[n]
		before := p.clock.Read()
		r, err := t.balancer.Balance(ctx, t.of(in))
		if err != nil {
			return nil, fmt.Errorf("part %d of %d: %w", n+1, p.k, err)
		}
		t.put(out, r)
		out.stats.Parts = append(out.stats.Parts, p.clock.Read()-before)
	}
	return out, nil
}

func (t *part) of(in *Instance) *Instance {
	at := make([]int, in.servers()) // within the part, or -1
	for i := range at {
		at[i] = -1
	}
	sub := &Instance{epsilon: in.epsilon}
	for k, i := range t.servers {
		at[i] = k
		sub.memory = append(sub.memory, in.memory[i])
	}
	for _, j := range t.shards {
		sub.loads = append(sub.loads, in.loads[j])
		sub.sizes = append(sub.sizes, in.sizes[j])
		var now []share
		for _, s := range in.now[j] {
			if at[s.Server] >= 0 {
				now = append(now, share{at[s.Server], s.Part})
			}
		}
		sub.now = append(sub.now, now)
	}
	return sub
}

func (t *part) put(whole, r *Result) {
	for k, shares := range r.assignment {
		there := slices.Clone(shares)
		for n := range there {
			there[n].Server = t.servers[there[n].Server]
		}
		whole.assignment[t.shards[k]] = there
	}
	s, more := &whole.stats, &r.stats
	s.Objective += more.Objective
	s.Bound += more.Bound
	s.Iterations += more.Iterations
	s.Sweeps += more.Sweeps
	s.Limited = s.Limited || more.Limited
	s.Zero, s.One, s.Between = s.Zero+more.Zero, s.One+more.One, s.Between+more.Between
	s.Shim.add(more.Shim)
}

func (p *parts) split(in *Instance) error {
	if p.parts != nil {
		return nil
	}
	if p.k > in.servers() {
		return fmt.Errorf("%d parts of %d servers, want at most one part per server", p.k, in.servers())
	}
	shards, servers := casestudy.Split(in.shards(), p.k, p.seed), casestudy.Split(in.servers(), p.k, ^p.seed)
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
