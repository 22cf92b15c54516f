package convex_test

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/opt/convex"
)

func TestBudgetError(t *testing.T) {
	p := valid()
	for name, solve := range map[string]func(float64) error{
		"Solve":           func(b float64) error { _, err := p.Solve(b); return err },
		"Mixture":         func(b float64) error { _, err := p.Mixture(b); return err },
		"WidthCalculator": func(b float64) error { _, err := convex.DefaultWidthCalculator().Plan(p, b, most{}); return err },
	} {
		var least *convex.BudgetError
		if err := solve(0.5); !errors.As(err, &least) || least.Budget != 0.5 {
			t.Errorf("%s: error %v, want *BudgetError", name, err)
			continue
		}
		if err := solve(least.Least); err != nil && !errors.Is(err, convex.ErrNoPlan) {
			t.Errorf("%s: error %v at the least budget", name, err)
		}
		if err := solve(math.NaN()); err == nil || errors.As(err, &least) {
			t.Errorf("%s: error %v, want one about a number", name, err)
		}
	}
}

func valid() *convex.Problem {
	return &convex.Problem{Classes: []convex.Class{{Rate: 1, Epochs: []convex.Epoch{{Size: 1, Points: speeds(1, 1, 2, 1.8)}}}}}
}

// table has the costs of widths from 1.
func table(costs ...float64) func(kind, width int) float64 {
	return func(_, width int) float64 { return costs[width-1] }
}

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(*convex.Problem)
		want  string
	}{
		{"valid", func(p *convex.Problem) {}, ""},
		{"no prices", func(p *convex.Problem) { p.Prices = []float64{} }, ""},
		{"free", func(p *convex.Problem) { p.Prices = []float64{0} }, ""},
		{"no classes", func(p *convex.Problem) { p.Classes = nil }, "convex: 0 classes, want at least 1"},
		{"no epochs", func(p *convex.Problem) { p.Classes[0].Epochs = nil }, "convex: class 0: 0 epochs, want at least 1"},
		{"no widths", func(p *convex.Problem) { p.Classes[0].Epochs[0].Points = nil }, "convex: class 0, epoch 0: 0 widths, want at least 1"},
		{"rate 0", func(p *convex.Problem) { p.Classes[0].Rate = 0 }, "convex: class 0: rate 0, want from 1e-30 to 1e+30"},
		{"rate NaN", func(p *convex.Problem) { p.Classes[0].Rate = math.NaN() }, "convex: class 0: rate NaN, want from 1e-30 to 1e+30"},
		{"weight below 0", func(p *convex.Problem) { p.Classes[0].Weight = -1 }, "convex: class 0: weight -1, want 0 or from 1e-30 to 1e+30"},
		{"rescale NaN", func(p *convex.Problem) { p.Classes[0].Rescale = math.NaN() }, "convex: class 0: rescale time NaN, want 0 or from 1e-30 to 1e+30"},
		{"size 0", func(p *convex.Problem) { p.Classes[0].Epochs[0].Size = 0 }, "convex: class 0, epoch 0: size 0, want from 1e-30 to 1e+30"},
		{"price below 0", func(p *convex.Problem) { p.Prices = []float64{-1} }, "convex: kind 0: price -1, want 0 or from 1e-30 to 1e+30"},
		{"price infinite", func(p *convex.Problem) { p.Prices = []float64{math.Inf(1)} }, "convex: kind 0: price +Inf, want 0 or from 1e-30 to 1e+30"},
		{
			"speed 0", func(p *convex.Problem) { p.Classes[0].Epochs[0].Points[1].Speed = 0 },
			"convex: class 0, epoch 0, kind 0, width 2: speed 0, want from 1e-30 to 1e+30",
		},
		{
			"width 0", func(p *convex.Problem) { p.Classes[0].Epochs[0].Points[0].Width = 0 },
			"convex: class 0, epoch 0, kind 0, width 0: want a width of at least 1",
		},
		{
			"no such kind", func(p *convex.Problem) { p.Classes[0].Epochs[0].Points[1].Kind = 1 },
			"convex: class 0, epoch 0, kind 1, width 2: want a kind from 0 to 0",
		},
		{
			"twice", func(p *convex.Problem) { p.Classes[0].Epochs[0].Points[1].Width = 1 },
			"convex: class 0, epoch 0: width 1 of kind 0 after width 1 of kind 0, want ascending",
		},
		{
			"costs below 0", func(p *convex.Problem) { p.Costs = table(-1, 2) },
			"convex: class 0, epoch 0, kind 0, width 1: cost -1, want 0 or from 1e-30 to 1e+30",
		},
		{
			"costs NaN", func(p *convex.Problem) { p.Costs = table(1, math.NaN()) },
			"convex: class 0, epoch 0, kind 0, width 2: cost NaN, want 0 or from 1e-30 to 1e+30",
		},
		{
			"costs infinite", func(p *convex.Problem) { p.Costs = table(1, math.Inf(1)) },
			"convex: class 0, epoch 0, kind 0, width 2: cost +Inf, want 0 or from 1e-30 to 1e+30",
		},
		{
			"costs that fall", func(p *convex.Problem) { p.Costs = table(2, 1) },
			"convex: class 0, epoch 0, kind 0, width 2: cost 1, want at least the 2 of width 1",
		},
		{"costs that stay", func(p *convex.Problem) { p.Costs = table(2, 2) }, ""},
		{"costs of 0", func(p *convex.Problem) { p.Costs = table(0, 0) }, ""},
		{
			"costs of a width that is not one",
			func(p *convex.Problem) { p.Costs, p.Classes[0].Epochs[0].Points[0].Width = table(1, 2), 0 },
			"convex: class 0, epoch 0, kind 0, width 0: want a width of at least 1",
		},
		{
			"two complaints", func(p *convex.Problem) { p.Prices, p.Classes[0].Rate = []float64{-1}, -2 },
			"convex: kind 0: price -1, want 0 or from 1e-30 to 1e+30\nconvex: class 0: rate -2, want from 1e-30 to 1e+30",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := valid()
			c.spoil(p)
			got := ""
			if err := p.Validate(); err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("error %q, want %q", got, c.want)
			}
			for _, err := range refusals(p) {
				if (err != nil) != (c.want != "") {
					t.Errorf("error %v, want %q", err, c.want)
				}
			}
		})
	}
}

// refusals returns what every method says of a problem.
func refusals(p *convex.Problem) []error {
	_, err1 := p.Solve(9)
	_, err2 := p.Mixture(9)
	_, err3 := p.MixtureFrontier()
	_, err4 := p.Evaluate([][]convex.Point{{{Width: 1}}})
	_, err5 := convex.DefaultWidthCalculator().Plan(p, 9, most{})
	return []error{err1, err2, err3, err4, err5}
}

// Numbers within the limits of Validate, however far apart, give numbers.
func TestValidate_lets_only_through_what_can_be_computed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyProblem(t, 2)
		scale := func(v *float64) {
			if *v != 0 {
				*v = math.Pow(10, rapid.Float64Range(-29.9, 29.9).Draw(t, "exponent"))
			}
		}
		for kind := range p.Prices {
			scale(&p.Prices[kind])
		}
		for i := range p.Classes {
			c := &p.Classes[i]
			scale(&c.Rate)
			scale(&c.Weight)
			scale(&c.Rescale)
			for j := range c.Epochs {
				scale(&c.Epochs[j].Size)
				for n := range c.Epochs[j].Points {
					scale(&c.Epochs[j].Points[n].Speed)
				}
			}
		}
		f := frontier(t, p)
		budget := anyBudget(t, f.Least, f.Most)
		s := at(t, f, budget)
		finite(t, f.Least, f.Most, s.MeanJCT, s.Spend, s.Multiplier, s.Bound)
		end := mixture(t, p, math.Inf(1))
		m := mixture(t, p, anyBudget(t, end.Least, end.Most))
		finite(t, m.MeanJCT, m.Spend, m.Share, m.Multiplier, m.Bound)
		if points, err := p.MixtureFrontier(); err != nil || len(points) == 0 {
			t.Fatalf("%d breakpoints (%v)", len(points), err)
		}
		plan, err := convex.WidthCalculator{Samples: 2, Shrink: 0.5}.Plan(p, budget, most{})
		finite(t, plan.MeanJCT, plan.Spend)
		if s.MeanJCT <= 0 || m.MeanJCT <= 0 || (err == nil) != (plan.Widths != nil) {
			t.Fatalf("%+v, %+v, %+v (%v)", s, m, plan, err)
		}
	})
}

func finite(t *rapid.T, numbers ...float64) {
	t.Helper()
	for _, v := range numbers {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			t.Fatalf("%g", numbers)
		}
	}
}
