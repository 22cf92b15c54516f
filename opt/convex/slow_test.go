package convex_test

import (
	"context"
	"math"
	"slices"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/opt/convex"
	"github.com/oxgang/oxgang/opt/exact"
	"github.com/oxgang/oxgang/opt/lp"
)

// anyProblem draws a problem of a few classes, epochs and widths, on up to a given
// number of kinds. Some speeds are small whole numbers, so that there are ties.
func anyProblem(t *rapid.T, kinds int) *convex.Problem {
	kinds = rapid.IntRange(1, kinds).Draw(t, "kinds")
	p := &convex.Problem{}
	if kinds > 1 || rapid.Bool().Draw(t, "priced") {
		p.Prices = rapid.SliceOfN(rapid.OneOf(rapid.Float64Range(0.1, 5), rapid.SampledFrom([]float64{0, 1, 2})), kinds, kinds).Draw(t, "prices")
	}
	number := rapid.Float64Range(0.1, 4)
	for range rapid.IntRange(1, 3).Draw(t, "classes") {
		c := convex.Class{Rate: number.Draw(t, "rate"), Weight: rapid.SampledFrom([]float64{0, 1, 0.3, 2}).Draw(t, "weight")}
		c.Rescale = rapid.SampledFrom([]float64{0, 0.05, 0.5, 5}).Draw(t, "rescale")
		all := rapid.SampledFrom([]bool{true, true, false}).Draw(t, "the same widths")
		widths := anyWidths(t)
		for range rapid.IntRange(1, 4).Draw(t, "epochs") {
			e := convex.Epoch{Size: number.Draw(t, "size")}
			for kind := range kinds {
				if !all {
					widths = anyWidths(t)
				}
				for _, k := range widths {
					e.Points = append(e.Points, convex.Point{Kind: kind, Width: k, Speed: anySpeed(t, k)})
				}
			}
			c.Epochs = append(c.Epochs, e)
		}
		p.Classes = append(p.Classes, c)
	}
	return p
}

func anyWidths(t *rapid.T) []int {
	widths := rapid.SliceOfNDistinct(rapid.IntRange(1, 9), 1, 4, rapid.ID[int]).Draw(t, "widths")
	slices.Sort(widths)
	return widths
}

func anySpeed(t *rapid.T, width int) float64 {
	part := rapid.OneOf(rapid.SampledFrom([]float64{0.5, 1}), rapid.Float64Range(0.2, 1.2))
	return float64(width) * part.Draw(t, "speed per width")
}

// rate and the rest are what the problem says, spelt out.
func rate(p *convex.Problem, at convex.Point) float64 {
	if p.Prices == nil {
		return float64(at.Width)
	}
	return p.Prices[at.Kind] * float64(at.Width)
}

func weight(p *convex.Problem, i int) float64 {
	total := 0.0
	for _, c := range p.Classes {
		total += c.Rate * orOne(c.Weight)
	}
	return orOne(p.Classes[i].Weight) / total
}

func orOne(w float64) float64 {
	if w == 0 {
		return 1
	}
	return w
}

// anyBudget draws a budget from the smallest feasible one to above the largest
// useful one.
func anyBudget(t *rapid.T, least, most float64) float64 {
	part := rapid.OneOf(rapid.Float64Range(0, 1.1), rapid.SampledFrom([]float64{0, 1})).Draw(t, "budget")
	return least + part*(most-least)
}

// dual returns the best bound over all multipliers at which some epoch would
// change its point: by duality, the optimum of problems (1) and (7).
func dual(p *convex.Problem, budget float64) float64 {
	best := lagrangian(p, 0, budget)
	for i, c := range p.Classes {
		for _, e := range c.Epochs {
			for _, a := range e.Points {
				for _, b := range e.Points {
					slope := weight(p, i) * (1/a.Speed - 1/b.Speed) / (rate(p, b)/b.Speed - rate(p, a)/a.Speed)
					if slope > 0 && slope < 1e12 {
						best = math.Max(best, lagrangian(p, slope, budget))
					}
				}
			}
		}
	}
	return best
}

func lagrangian(p *convex.Problem, multiplier, budget float64) float64 {
	total := -multiplier * budget
	for i, c := range p.Classes {
		for _, e := range c.Epochs {
			least := math.Inf(1)
			for _, at := range e.Points {
				least = math.Min(least, (weight(p, i)+multiplier*rate(p, at))/at.Speed)
			}
			total += c.Rate * e.Size * least
		}
	}
	return total
}

// program returns problem (7) as a linear program: which part of the work of each
// epoch is done at which point. Problem (1) has one kind.
func program(p *convex.Problem, budget float64) *lp.Problem {
	l := &lp.Problem{}
	money, _ := l.AddRow(-lp.Inf, budget)
	for i, c := range p.Classes {
		for _, e := range c.Epochs {
			once, _ := l.AddRow(1, 1)
			for _, at := range e.Points {
				time := c.Rate * e.Size / at.Speed
				_, _ = l.AddCol(weight(p, i)*time, 0, lp.Inf, lp.RowEntry{Row: once, Value: 1}, lp.RowEntry{Row: money, Value: time * rate(p, at)})
			}
		}
	}
	return l
}

// exactly returns the optimum of problem (7) by HiGHS.
func exactly(t rapid.TB, p *convex.Problem, budget float64) float64 {
	t.Helper()
	solver, err := exact.New(exact.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	s, err := solver.Solve(context.Background(), program(p, budget))
	if err != nil || s.Status != lp.Optimal {
		t.Fatalf("linear program: %v (%v)", s, err)
	}
	return s.Objective
}
