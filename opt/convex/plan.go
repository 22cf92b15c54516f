package convex

import (
	"fmt"
	"slices"
)

// A Plan is a width for every class and epoch, and what comes of it: a
// fixed-width policy. Source: BOA §4.1, Definition 4.4.
type Plan struct {
	Widths  [][]Point // by class and epoch; points of the problem
	MeanJCT float64   // with the time to rescale
	Spend   float64   // mean, per unit of time
}

// evaluate returns the plan that has these widths (by class and epoch, of which
// Speed is ignored: it is the problem's). A job rescales when it starts and when
// kind or width change. It complains about widths that the problem does not have.
//
// Source: BOA §4.3, Lemma 4.8, Eq. 2 and 3. Deviation: what is spent is not divided by
// λ, because Lemma 4.5 is the same without rescaling, and has no 1/λ there.
func (p *Problem) evaluate(widths [][]Point) (Plan, error) {
	if len(widths) != len(p.Classes) {
		return Plan{}, fmt.Errorf("convex: widths of %d classes, want %d", len(widths), len(p.Classes))
	}
	plan := Plan{Widths: make([][]Point, len(widths))}
	for i, gain := range p.gains() {
		found, err := p.Classes[i].find(widths[i])
		if err != nil {
			return Plan{}, fmt.Errorf("convex: class %d: %w", i, err)
		}
		plan.Widths[i] = found
		plan.add(p, i, gain)
	}
	return plan, nil
}

// find returns a class' points of the given kinds and widths.
func (c *Class) find(widths []Point) ([]Point, error) {
	if len(widths) != len(c.Epochs) {
		return nil, fmt.Errorf("widths of %d epochs, want %d", len(widths), len(c.Epochs))
	}
	found := make([]Point, len(widths))
	for j, at := range widths {
		n, ok := slices.BinarySearchFunc(c.Epochs[j].Points, at, compare)
		if !ok {
			return nil, fmt.Errorf("epoch %d: width %d of kind %d, want one that it has", j, at.Width, at.Kind)
		}
		found[j] = c.Epochs[j].Points[n]
	}
	return found, nil
}

// add counts class i, whose widths are in the plan.
func (l *Plan) add(p *Problem, i int, gain float64) {
	c := &p.Classes[i]
	for j, at := range l.Widths[i] {
		time := c.Epochs[j].Size / at.Speed
		if j == 0 || compare(l.Widths[i][j-1], at) != 0 {
			time += c.Rescale
		}
		l.MeanJCT += gain * c.Rate * time
		l.Spend += c.Rate * time * p.rate(at)
	}
}
