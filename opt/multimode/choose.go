package multimode

import (
	"cmp"
	"context"
	"slices"

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

// press gives job i missing rounds by moving jobs that lose less, preferably without a further start.
func (k *packing) press(i int) {
	k.log = k.log[:0]
	mode, n := k.pick[i].mode, k.pick[i].rounds
	m := k.mode(i)
	for starts := -1; starts <= 1; starts++ {
		for t := 0; t < k.p.Rounds && k.runs[i].Count() < n; t++ {
			more := k.more(i, mode, t)
			if k.runs[i].In(t) || more > starts {
				continue
			}
			if _, ok := k.makeRoom(m, t, k.lack(i)-k.p.Jobs[i].Again*float64(more)); ok {
				k.take(i, mode, t)
			}
		}
	}
}

func (k *packing) lack(i int) float64 {
	j := &k.p.Jobs[i]
	now, then := j.at(k.runs[i]), k.mode(i).After[k.pick[i].rounds-1]
	return then.Value - now.Value + k.p.Lambda*max(0, now.Left-then.Left, now.Load-then.Load)
}

func (k *packing) more(i, mode, t int) int {
	j := &k.p.Jobs[i]
	return j.further(Run{mode, k.runs[i].Rounds | 1<<t}) - j.further(k.runs[i])
}

type move struct {
	job, to int
	cost    float64
}

// makeRoom moves jobs until a mode fits in round t, and returns the cost, or moves nothing if not below limit.
func (k *packing) makeRoom(m *Mode, t int, limit float64) (cost float64, ok bool) {
	free := k.free[m.Resource]
	if free[t] >= m.Amount {
		return 0, true
	}
	k.movers = k.movers[:0]
	for v := range k.runs {
		if best := k.elsewhere(v, m.Resource, t); best.to >= 0 && best.cost < limit {
			k.movers = append(k.movers, best)
		}
	}
	slices.SortStableFunc(k.movers, func(a, b move) int { return cmp.Compare(a.cost, b.cost) })
	before := len(k.log)
	for _, v := range k.movers {
		if free[t] >= m.Amount || cost >= limit {
			break
		}
		if v = k.elsewhere(v.job, m.Resource, t); v.to >= 0 {
			k.shift(v.job, t, v.to)
			cost += v.cost
		}
	}
	if free[t] < m.Amount || cost >= limit {
		k.undo(before)
		return 0, false
	}
	return cost, true
}

func (k *packing) elsewhere(v, resource, t int) move {
	best := move{job: v, to: -1}
	r := k.runs[v]
	if !r.In(t) || k.p.Jobs[v].Modes[r.Mode].Resource != resource {
		return best
	}
	j := &k.p.Jobs[v]
	m := &j.Modes[r.Mode]
	for to, free := range k.free[resource] {
		if free < m.Amount || r.In(to) {
			continue
		}
		starts := j.further(Run{r.Mode, r.Rounds ^ (1<<t | 1<<to)}) - j.further(r)
		if cost := j.Again * float64(starts); best.to < 0 || cost < best.cost {
			best.to, best.cost = to, cost
		}
	}
	return best
}

func (k *packing) shift(v, from, to int) {
	mode := k.runs[v].Mode
	k.drop(v, from)
	k.take(v, mode, to)
}
