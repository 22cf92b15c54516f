package convex

import (
	"fmt"
	"slices"
)

// A Mix states how many machines a class uses in an epoch: At, or for a fraction Share of the work Next, and At for the
// rest.
type Mix struct {
	At, Next Point
	Share    float64 // in [0, 1); Next is At if it is 0
}

// A Solution is the best plan for one budget, if starting and resizing take no time: problem (1) of BOA
// Constrictor, or (7) with several GPU types.
type Solution struct {
	Widths     [][]Mix // number of machines by class and epoch; at most one has a Share
	MeanJCT    float64 // weighted mean completion time
	Spend      float64 // smaller of the budget and Frontier.Most
	Multiplier float64 // decrease of MeanJCT for one more unit of budget
	Bound      float64 // lower bound on the mean completion time; equals MeanJCT up to rounding
	Repaired   int     // see Frontier.Repaired
}

// At returns the optimum within budget, or a *BudgetError if the budget is below Least. Where several optima exist,
// earlier epochs get more machines first.
func (f *Frontier) At(budget float64) (*Solution, error) {
	if err := checkBudget(budget, f.Least); err != nil {
		return nil, err
	}
	levels, cut, share := f.fill(budget)
	s := &Solution{Widths: make([][]Mix, len(f.problem.Classes)), Multiplier: cut.slope, Repaired: f.Repaired}
	e := 0
	for i := range f.problem.Classes {
		epochs := f.problem.Classes[i].Epochs
		s.Widths[i] = make([]Mix, len(epochs))
		for j := range epochs {
			part := 0.0
			if int32(e) == cut.epoch {
				part = share
			}
			s.Widths[i][j] = f.mix(epochs[j].Points, levels[e], part)
			s.add(f, e, levels[e], part)
			e++
		}
	}
	s.Bound = f.problem.bound(s.Multiplier, min(budget, f.Most))
	return s, nil
}

// fill takes segments while the budget lasts: each epoch's vertex, the first segment that does not fit (zero:
// none), and the share that fits.
func (f *Frontier) fill(budget float64) (levels []int32, cut segment, share float64) {
	levels = append(levels, f.first[:len(f.load)]...)
	spent := f.Least
	for _, s := range f.segments {
		cost := f.spend(s)
		if spent+cost > budget*(1+slack) {
			share = (budget - spent) / cost
			if share < slack {
				share = 0
			}
			return levels, s, share
		}
		spent += cost
		levels[s.epoch] = s.to
	}
	return levels, segment{}, 0
}

func (f *Frontier) mix(points []Point, level int32, share float64) Mix {
	at := points[f.vertices[level].point]
	if share == 0 {
		return Mix{At: at, Next: at}
	}
	return Mix{At: at, Next: points[f.vertices[level+1].point], Share: share}
}

func (s *Solution) add(f *Frontier, e int, level int32, share float64) {
	v := f.vertices[level]
	if share > 0 {
		next := f.vertices[level+1]
		v.cost += share * (next.cost - v.cost)
		v.time += share * (next.time - v.time)
	}
	s.Spend += f.load[e] * v.cost
	s.MeanJCT += f.load[e] * f.gain[e] * v.time
}

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
