package gavel

import "github.com/oxgang/oxgang/opt/barrier"

// A Solver solves a program of time fractions: for the greatest level, or for the most
// gain. Its solution is not feasible where it finds none.
type Solver func(g *barrier.Program, level bool) *barrier.Solution

// best returns the fractions of the most gain. Under PublicCode they are those of
// Options.Public; where that finds none, it is as under Paper.
func (p *Policy) best(g *barrier.Program) *barrier.Solution {
	if p.o.Rules == PublicCode {
		if out := p.o.Public(g, false); out.Feasible {
			return out
		}
	}
	out := g.Best(barrier.Settings{})
	return &out
}

// level, likewise, returns the fractions of the greatest level. If no job needs anything the
// solution is the centre.
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
