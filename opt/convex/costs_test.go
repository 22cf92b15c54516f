package convex_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/opt/convex"
)

// whole makes a problem's machines come in nodes of so many, of which each is paid for.
func whole(p *convex.Problem, node int) {
	prices := p.Prices
	p.Costs = func(kind, width int) float64 {
		nodes := float64((width + node - 1) / node * node)
		if len(prices) == 0 {
			return nodes
		}
		return nodes * prices[kind]
	}
}

// widest is the largest width of anyProblem.
const widest = 9

// apart returns the same problem without Costs: each width is a kind of its own, whose
// price is what the width costs, divided by it.
func apart(p *convex.Problem) *convex.Problem {
	q := &convex.Problem{}
	for kind := range max(1, len(p.Prices)) {
		for k := 1; k <= widest; k++ {
			q.Prices = append(q.Prices, p.Costs(kind, k)/float64(k))
		}
	}
	for _, c := range p.Classes {
		epochs := c.Epochs
		c.Epochs = nil
		for _, e := range epochs {
			d := convex.Epoch{Size: e.Size}
			for _, at := range e.Points {
				at.Kind = at.Kind*widest + at.Width - 1
				d.Points = append(d.Points, at)
			}
			c.Epochs = append(c.Epochs, d)
		}
		q.Classes = append(q.Classes, c)
	}
	return q
}

// One node of two machines costs as much as one machine of it. Work 1 a unit of time takes
// 1/1.5 on both machines, for 2 a unit of time: 4/3. A machine alone would take 1 for 2.
func TestCosts_of_whole_nodes(t *testing.T) {
	p := &convex.Problem{Classes: []convex.Class{{Rate: 1, Epochs: []convex.Epoch{{Size: 1, Points: speeds(1, 1, 2, 1.5)}}}}}
	whole(p, 2)
	s, m := solve(t, p, 9), mixture(t, p, 9)
	if !near(s.MeanJCT, 1/1.5) || !near(s.Spend, 2/1.5) || !near(m.MeanJCT, s.MeanJCT) || !near(m.Spend, s.Spend) || !near(m.Least, m.Most) {
		t.Errorf("mean %g for %g, mixture %g for %g, want %g for %g", s.MeanJCT, s.Spend, m.MeanJCT, m.Spend, 1/1.5, 2/1.5)
	}
	plan, err := p.Evaluate([][]convex.Point{{{Width: 1}}})
	if err != nil || !near(plan.MeanJCT, 1) || !near(plan.Spend, 2) {
		t.Errorf("mean %g for %g (%v), want 1 for 2", plan.MeanJCT, plan.Spend, err)
	}
}

func TestCosts_are_prices_of_widths_that_are_kinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyProblem(t, 2)
		whole(p, rapid.IntRange(1, 4).Draw(t, "node"))
		q := apart(p)
		f, g := frontier(t, p), frontier(t, q)
		if !near(f.Least, g.Least) || !near(f.Most, g.Most) {
			t.Fatalf("budgets from %g to %g, want %g to %g", f.Least, f.Most, g.Least, g.Most)
		}
		budget := anyBudget(t, f.Least, f.Most)
		s, want := at(t, f, budget), at(t, g, budget)
		if !near(s.MeanJCT, want.MeanJCT) || !near(s.Spend, want.Spend) || !near(s.Bound, s.MeanJCT) {
			t.Fatalf("mean %g for %g, bound %g, want %g for %g", s.MeanJCT, s.Spend, s.Bound, want.MeanJCT, want.Spend)
		}
		end := mixture(t, p, math.Inf(1))
		budget = anyBudget(t, end.Least, end.Most)
		m, other := mixture(t, p, budget), mixture(t, q, budget)
		if !near(m.MeanJCT, other.MeanJCT) || !near(m.Spend, other.Spend) || !near(m.Bound, m.MeanJCT) {
			t.Fatalf("mixture %g for %g, bound %g, want %g for %g", m.MeanJCT, m.Spend, m.Bound, other.MeanJCT, other.Spend)
		}
	})
}

// Algorithm 1 knows what nodes cost when it solves problem (1), too: by widths, the second
// class' fifth machine would go before the first one's four, which cost no more than two.
func TestCosts_count_where_epochs_are_glued(t *testing.T) {
	p := &convex.Problem{Classes: []convex.Class{
		{Rate: 1, Epochs: []convex.Epoch{{Size: 1, Points: speeds(2, 2, 4, 2.5)}}},
		{Rate: 1, Epochs: []convex.Epoch{{Size: 1, Points: speeds(4, 2, 5, 2.45)}}},
	}}
	whole(p, 4)
	plan, err := convex.DefaultWidthCalculator().Plan(p, 4.5, most{})
	if err != nil || !near(plan.MeanJCT, (1/2.5+1/2.0)/2) || !near(plan.Spend, 4/2.5+4/2.0) {
		t.Errorf("mean %g for %g, widths %v (%v), want 4 and 4", plan.MeanJCT, plan.Spend, plan.Widths, err)
	}
}
