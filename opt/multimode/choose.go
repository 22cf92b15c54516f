package multimode

import (
	"context"

	"github.com/oxgang/oxgang/opt/mmkp"
)

type count struct{ mode, rounds int }

type chooser struct {
	p       *Problem
	solver  *mmkp.Solver
	problem mmkp.Problem
	counts  [][]count
	idle    Point
	prices  []float64
	solves  int
}

func newChooser(p *Problem) *chooser {
	c := &chooser{p: p, solver: mmkp.NewSolver(), counts: make([][]count, len(p.Jobs)), prices: make([]float64, len(p.Capacity))}
	for _, b := range p.Capacity {
		c.problem.Capacity = append(c.problem.Capacity, float64(b)*float64(p.Rounds))
	}
	for i := range p.Jobs {
		c.idle.Value += p.Jobs[i].Idle.Value
		c.idle.Load += p.Jobs[i].Idle.Load
	}
	c.problem.Items = make([]mmkp.Item, len(p.Jobs))
	return c
}

const nodes = 10_000

// choose returns the best modes and numbers of rounds with at most z left per job, and an upper bound of their
// value minus a price of the load.
func (c *chooser) choose(ctx context.Context, z, price float64) (pick []count, bound float64, err error) {
	for i := range c.p.Jobs {
		c.list(i, z, price)
	}
	c.solves++
	o := mmkp.DefaultOptions()
	o.MaxNodes = nodes
	s, err := c.solver.Solve(ctx, &c.problem, c.prices, o)
	if err != nil {
		return nil, 0, err
	}
	c.prices = append(c.prices[:0], s.Prices...)
	pick = make([]count, len(c.p.Jobs))
	for i, choice := range s.Pick {
		if choice >= 0 {
			pick[i] = c.counts[i][choice]
		}
	}
	return pick, c.idle.Value - price*c.idle.Load + s.Bound, nil
}

func (c *chooser) list(i int, z, price float64) {
	j, item := &c.p.Jobs[i], &c.problem.Items[i]
	item.Choices, c.counts[i] = item.Choices[:0], c.counts[i][:0]
	item.Must = j.Idle.Left > z
	for n, at := range c.p.points(j) {
		if at.Left <= z {
			m := &j.Modes[n.mode]
			use := mmkp.Use{Resource: m.Resource, Amount: float64(m.Amount) * float64(n.rounds)}
			value := at.Value - j.Idle.Value + price*(j.Idle.Load-at.Load)
			item.Choices = append(item.Choices, mmkp.Choice{Value: value, Use: use})
			c.counts[i] = append(c.counts[i], n)
		}
	}
}
