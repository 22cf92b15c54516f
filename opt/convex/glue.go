package convex

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
)

// A Source generates random numbers, such as *rand.Rand.
type Source interface {
	IntN(n int) int
}

// A WidthCalculator is the BOA paper's search for jobs that lose time when they rescale (change their number of GPUs).
// It joins neighbouring epochs at random, so that a job rescales less often, and solves problem (1), which ignores
// rescaling time, for smaller and smaller budgets until the plan with this time fits. Mixture is better and faster.
//
// Source: BOA §4.3, App. C, Algorithm 1.
//
// Deviation: the speed of joined epochs is their harmonic mean by size (the paper says "weighted average"), because
// this is their true speed; the arithmetic mean is 20 to 29 % higher. Deviation: a configuration is given up when
// problem (1) is infeasible with the rest of the budget, because the paper's loop would not end.
type WidthCalculator struct {
	Samples int     // random joins of epochs to try; 50 in the paper
	Shrink  float64 // factor on the budget after a failure, in (0, 1); 0.99 in the paper
}

// DefaultWidthCalculator returns the settings of the paper.
func DefaultWidthCalculator() WidthCalculator { return WidthCalculator{Samples: 50, Shrink: 0.99} }

// ErrNoPlan is returned if WidthCalculator.Plan tried only configurations that exceed the budget.
var ErrNoPlan = errors.New("convex: no glue configuration within the budget")

// Plan returns the best plan found within the budget, or ErrNoPlan. It returns a *BudgetError if no plan is cheap
// enough.
func (w WidthCalculator) Plan(p *Problem, budget float64, random Source) (Plan, error) {
	if !(w.Shrink > 0 && w.Shrink < 1) {
		return Plan{}, fmt.Errorf("convex: width calculator: shrink %g, want more than 0 and less than 1", w.Shrink)
	}
	if err := p.Validate(); err != nil {
		return Plan{}, err
	}
	s := &pricer{lattices: p.lattices()}
	cheap, _ := s.ends()
	if err := checkBudget(budget, cheap.spend); err != nil {
		return Plan{}, err
	}
	best, found := Plan{}, ErrNoPlan
	for range w.Samples {
		glue := make([]int, len(p.Classes))
		for i := range glue {
			glue[i] = 1 << random.IntN(bits.Len(uint(len(p.Classes[i].Epochs))))
		}
		plan, err := w.glued(p, s.lattices, glue, budget)
		if err == nil && (found != nil || plan.MeanJCT < best.MeanJCT) {
			best, found = plan, nil
		}
	}
	return best, found
}

// glued returns the plan of one configuration: lines 12 to 27. Epochs without a common width cannot be glued.
func (w WidthCalculator) glued(p *Problem, lattices []lattice, glue []int, budget float64) (Plan, error) {
	super := &Problem{Prices: p.Prices, Costs: p.Costs, Classes: make([]Class, len(p.Classes))}
	for i := range lattices {
		super.Classes[i] = lattices[i].glue(glue[i])
	}
	f, err := super.Frontier()
	if err != nil {
		return Plan{}, err
	}
	for run := min(budget, f.Most); ; run *= w.Shrink {
		solution, err := f.At(run)
		if err != nil {
			return Plan{}, err
		}
		plan, err := p.evaluate(p.unglue(glue, p.round(solution.Widths)))
		if err != nil || plan.Spend <= budget {
			return plan, err
		}
	}
}

// glue joins every g epochs of the class. Source: BOA §4.3, "Epoch Gluing".
func (l *lattice) glue(g int) Class {
	c := *l.class
	c.Epochs = nil
	for start := 0; start < len(l.times); start += g {
		c.Epochs = append(c.Epochs, l.super(start, min(start+g, len(l.times))))
	}
	return c
}

func (l *lattice) super(start, end int) Epoch {
	var e Epoch
	for j := start; j < end; j++ {
		e.Size += l.class.Epochs[j].Size
	}
	for k, at := range l.states {
		time := 0.0
		for j := start; j < end; j++ {
			time += l.times[j][k]
		}
		if !math.IsInf(time, 1) {
			e.Points = append(e.Points, Point{Kind: at.Kind, Width: at.Width, Speed: e.Size / time})
		}
	}
	return e
}

func (p *Problem) unglue(glue []int, super [][]Point) [][]Point {
	widths := make([][]Point, len(super))
	for i := range super {
		widths[i] = make([]Point, len(p.Classes[i].Epochs))
		for j := range widths[i] {
			widths[i][j] = super[i][j/glue[i]]
		}
	}
	return widths
}

// round returns the nearest widths of hull vertices, by cost, then price. Source: BOA App. C, line 17, "the
// nearest integer on the non-decreasing concave hull".
func (p *Problem) round(widths [][]Mix) [][]Point {
	rounded := make([][]Point, len(widths))
	for i := range widths {
		rounded[i] = make([]Point, len(widths[i]))
		for j, m := range widths[i] {
			rounded[i][j] = m.At
			if low, high := p.rate(m.At), p.rate(m.Next); p.meanRate(m)-low > high-p.meanRate(m) {
				rounded[i][j] = m.Next
			}
		}
	}
	return rounded
}

func (p *Problem) meanRate(m Mix) float64 {
	here, there := (1-m.Share)/m.At.Speed, m.Share/m.Next.Speed
	return (here*p.rate(m.At) + there*p.rate(m.Next)) / (here + there)
}
