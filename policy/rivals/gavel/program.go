package gavel

import (
	"math"

	"github.com/oxgang/oxgang/opt/barrier"
	"github.com/oxgang/oxgang/policy"
)

type solution struct {
	objective, bound float64
	prices           []float64 // of a GPU by type
	iterations       int
}

func (p *Policy) solve(s *policy.Snapshot) {
	p.open()
	p.outcome = solution{}
	switch p.o.Objective {
	case MaxMin:
		p.maxMin()
	case Sum:
		p.sum()
	case FTF:
		p.ftf(s)
	case Makespan:
		p.makespan()
	case AlloX:
		p.allox(s)
	case Stride:
		p.stride()
	}
	for _, a := range p.active {
		a.solved = true
	}
	p.stale, p.fresh, p.solved = false, p.solved.IsZero(), s.Now
}

// program returns the program without needs or gains. Source: Gavel §3.1, constraints (1)-(3).
func (p *Policy) program() *barrier.Program {
	g := &barrier.Program{Items: make([]barrier.Item, len(p.active)), Capacity: make([]float64, len(p.types))}
	for t, n := range p.free {
		g.Capacity[t] = float64(n)
	}
	for i, a := range p.active {
		g.Items[i] = barrier.Item{Size: a.size, Rate: p.counts(a)}
	}
	return g
}

// maxMin maximises the least GPUs times throughput, over weight and the throughput with an equal share. Source:
// Gavel §4.1.
func (p *Policy) maxMin() {
	g := p.program()
	for i, a := range p.active {
		if most := a.gpus(); most > 0 {
			g.Items[i].Least = p.equal(a) * a.weight() / most
		}
	}
	p.take(p.level(g))
}

// sum maximises the sum of throughputs. Source: Gavel §4.2.
func (p *Policy) sum() {
	g := p.program()
	for i, a := range p.active {
		g.Items[i].Gain = a.pace
	}
	p.take(p.best(g))
}

// makespan minimises the end of the last job: all do the same part of their steps per second. Jobs of unknown
// length share the rest. Source: Gavel §4.2.
func (p *Policy) makespan() {
	g := p.work()
	out := p.level(g)
	if p.o.Rules == PublicCode {
		publicRules{p}.bisect(g, out)
		return
	}
	p.take(out)
	p.outcome.objective, p.outcome.bound = inverse(out.Level), inverse(out.Bound)
	p.outcome.prices = nil // of the level, not of seconds
}

func (p *Policy) work() *barrier.Program {
	g := p.program()
	for i, a := range p.active {
		if a.gpus() > 0 {
			g.Items[i].Least = a.left()
		}
	}
	return g
}

func (p *Policy) take(out *barrier.Solution) {
	for i, a := range p.active {
		for t, x := range out.X[i] {
			a.x[t] = math.Min(1, math.Max(0, x))
		}
	}
	p.outcome.objective, p.outcome.bound = out.Objective, out.Bound
	p.outcome.prices = out.Prices
	p.outcome.iterations += out.Iterations
}

func (a *account) gpus() float64 {
	most := 0.0
	for _, size := range a.size {
		most = math.Max(most, size)
	}
	return most
}

func (a *account) weight() float64 {
	if a.row.Weight > 0 {
		return a.row.Weight
	}
	return 1
}

// equal returns a job's throughput if it runs all the time, on all usable types in proportion. Source: Gavel §4.1,
// X^equal.
func (p *Policy) equal(a *account) float64 {
	rate, gpus := 0.0, 0.0
	for t, size := range a.size {
		if size > 0 {
			rate += float64(p.free[t]) * p.counts(a)[t]
			gpus += float64(p.free[t])
		}
	}
	return rate / gpus
}

func inverse(v float64) float64 {
	if v == 0 {
		return 0
	}
	return 1 / v
}

// stride gives every job the same time, on usable GPU types in proportion, scaled down to capacity. Source:
// Gandiva-Fair (tickets by gangs); Shockwave §8.5.
func (p *Policy) stride() {
	gpus := 0.0
	for _, n := range p.free {
		gpus += float64(n)
	}
	each := math.Min(1, gpus/float64(len(p.active)))
	asked := make([]float64, len(p.types))
	for _, a := range p.active {
		share := 0.0
		for t, size := range a.size {
			if size > 0 {
				share += float64(p.free[t])
			}
		}
		for t, size := range a.size {
			a.x[t] = 0
			if size > 0 {
				a.x[t] = each * float64(p.free[t]) / share
			}
			asked[t] += size * a.x[t]
		}
	}
	if p.o.Rules == PublicCode {
		return // only ratios matter
	}
	for t, n := range asked {
		for _, a := range p.active {
			a.x[t] *= math.Min(1, float64(p.free[t])/math.Max(n, 1))
		}
	}
}
