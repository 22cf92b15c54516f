package budget

import (
	"math"
	"slices"

	"github.com/oxgang/oxgang/opt/convex"
)

// A Frontier is the lowest mean completion time as a function of the budget: a piecewise linear curve.
type Frontier struct {
	Planner *Planner
	Points  []convex.Breakpoint // corners, with budgets per hour; the last multiplier is 0
	Shown   []shown             // points to print: the first, the knee, the last and some between
	// Knee is the index in Points of the first point from which 1 % more budget saves less than 1 % of the
	// completion time.
	Knee int
}

// A Shown is a point of a Frontier that is selected for printing, with its number of GPUs.
type shown struct {
	convex.Breakpoint
	OneMore float64 // see Plan
	Use     []Use
	Knee    bool
}

const chartPoints, tablePoints = 48, 14

// Frontier computes the lowest mean completion time as a function of the budget.
func (p *Planner) Frontier() (*Frontier, error) {
	points, err := p.problem.Frontier()
	if err != nil {
		return nil, err
	}
	f := &Frontier{Planner: p, Points: points, Knee: knee(points)}
	for _, i := range spread(points, chartPoints, f.Knee) {
		plan, err := p.Plan(points[i].Budget)
		if err != nil {
			return nil, err
		}
		f.Shown = append(f.Shown, shown{Breakpoint: points[i], OneMore: plan.OneMore, Use: plan.Use, Knee: i == f.Knee})
	}
	return f, nil
}

func (f *Frontier) rows() []*shown {
	points, knee := make([]convex.Breakpoint, len(f.Shown)), 0
	for i := range f.Shown {
		points[i] = f.Shown[i].Breakpoint
		if f.Shown[i].Knee {
			knee = i
		}
	}
	var rows []*shown
	for _, i := range spread(points, tablePoints, knee) {
		rows = append(rows, &f.Shown[i])
	}
	return rows
}

func knee(points []convex.Breakpoint) int {
	return slices.IndexFunc(points, func(b convex.Breakpoint) bool { return b.Multiplier*b.Budget < b.MeanJCT })
}

func spread(points []convex.Breakpoint, n, knee int) []int {
	first, last := points[0], points[len(points)-1]
	across := math.Log(last.Budget / first.Budget)
	down := math.Log(first.MeanJCT / last.MeanJCT)
	var kept []int
	next := 0.0
	for i, b := range points {
		along := 0.0
		if across > 0 {
			along += math.Log(b.Budget/first.Budget) / across / 2
		}
		if down > 0 {
			along += math.Log(first.MeanJCT/b.MeanJCT) / down / 2
		}
		if along >= next || i == len(points)-1 || i == knee {
			kept = append(kept, i)
			next = max(next, math.Floor(along*float64(n-1)+1)/float64(n-1))
		}
	}
	return kept
}

// least returns the smallest feasible budget, with its mean completion time.
func (f *Frontier) least() convex.Breakpoint { return f.Points[0] }

// most returns the budget above which more money saves no time, with its mean completion time.
func (f *Frontier) most() convex.Breakpoint { return f.Points[len(f.Points)-1] }
