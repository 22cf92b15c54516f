package convex

import (
	"fmt"
	"slices"
)

// A Plan states how many machines a job gets in each epoch, by its class. Source: BOA §4.1, Definition 4.4,
// "fixed-width policy".
type Plan struct {
	Widths  [][]Point // width of each class in each epoch
	MeanJCT float64   // mean completion time, with the time to rescale
	Spend   float64   // mean cost per unit of time
}

// evaluate returns the plan with these widths. A job rescales when it starts and when its kind or width changes.
//
// Source: BOA §4.3, Lemma 4.8, Eq. 2 and 3. Deviation: spending is not divided by λ, because Lemma 4.5 is the same
// without rescaling, and has no 1/λ there.
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

func (c *Class) find(widths []Point) ([]Point, error) {
	if len(widths) != len(c.Epochs) {
		return nil, fmt.Errorf("widths of %d epochs, want %d", len(widths), len(c.Epochs))
	}
	found := make([]Point, len(widths))
	for j, at := range widths {
		n, ok := slices.BinarySearchFunc(c.Epochs[j].Points, at, compare)
		if !ok {
			return nil, fmt.Errorf("epoch %d has no width %d of kind %d", j, at.Width, at.Kind)
		}
		found[j] = c.Epochs[j].Points[n]
	}
	return found, nil
}

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
