package gavel

import "github.com/oxgang/oxgang/opt/barrier"

// A Solver finds the fractions of time of program g. If level is true, it maximises the smallest gain of a job,
// otherwise the total gain.
type Solver func(g *barrier.Program, level bool) *barrier.Solution

func (p *Policy) best(g *barrier.Program) *barrier.Solution {
	if p.o.Rules == PublicCode {
		if out := p.o.Public(g, false); out.Feasible {
			return out
		}
	}
	out := g.Best(barrier.Settings{})
	return &out
}

func (p *Policy) level(g *barrier.Program) *barrier.Solution {
	if p.o.Rules == PublicCode && p.o.Objective == MaxMin {
		if out := p.o.Public(g, true); out.Feasible {
			return out
		}
	}
	out := g.Level(barrier.Settings{})
	if !out.Feasible {
		out = g.Best(barrier.Settings{})
	}
	return &out
}
