package convex

// A Point is a number of machines of one kind on which an epoch can run, and its speed on them.
type Point struct {
	Kind  int     // index into Problem.Prices; 0 for a single kind
	Width int     // number of machines of the kind; at least 1
	Speed float64 // work per unit of time, s(k); need not be 1 at width 1
}

// An Epoch is a part of a job during which its speed on each number of machines is constant.
type Epoch struct {
	Size float64 // work, E[Xᵢⱼ], in time at speed 1
	// Points are the possible widths and their speeds, by kind, then width. Speeds need not be monotone or concave.
	Points []Point
}

// A Class is a stream of arriving jobs with the same epochs.
type Class struct {
	Rate    float64 // λᵢ: arrivals per unit of time
	Weight  float64 // weight in the mean completion time; 0 means 1
	Rescale float64 // rᵢ: time lost by a start or a change of width
	Epochs  []Epoch
}

// A Problem is a stream of jobs that must run within a budget. All times are in the same unit. Source: BOA §3.1, §4,
// App. E.1.
type Problem struct {
	// Prices are per machine and unit of time, by kind. Nil means one kind with price 1.
	Prices []float64
	// Costs returns the cost per unit of time if it is not Prices × width, for example because whole nodes are
	// rented. It must be deterministic and must not fall with width.
	Costs   func(kind, width int) float64
	Classes []Class
}

func (p *Problem) kinds() int { return max(len(p.Prices), 1) }

func (p *Problem) price(kind int) float64 {
	if len(p.Prices) == 0 {
		return 1
	}
	return p.Prices[kind]
}

func (p *Problem) rate(at Point) float64 {
	if p.Costs != nil {
		return p.Costs(at.Kind, at.Width)
	}
	return p.price(at.Kind) * float64(at.Width)
}

func (p *Problem) gains() []float64 {
	gains, total := make([]float64, len(p.Classes)), 0.0
	for i, c := range p.Classes {
		gains[i] = c.Weight
		if c.Weight == 0 {
			gains[i] = 1
		}
		total += gains[i] * c.Rate
	}
	for i := range gains {
		gains[i] /= total
	}
	return gains
}

func (p *Problem) epochs() int {
	n := 0
	for i := range p.Classes {
		n += len(p.Classes[i].Epochs)
	}
	return n
}

// bound returns the Lagrangian over all points: no policy with the budget is faster, without rescaling time.
func (p *Problem) bound(multiplier, budget float64) float64 {
	total, gains := -multiplier*budget, p.gains()
	for i := range p.Classes {
		c := &p.Classes[i]
		for j := range c.Epochs {
			total += c.Rate * c.Epochs[j].Size * p.cheapest(c.Epochs[j].Points, gains[i], multiplier)
		}
	}
	return total
}

func (p *Problem) cheapest(points []Point, gain, multiplier float64) float64 {
	least := (gain + multiplier*p.rate(points[0])) / points[0].Speed
	for _, at := range points[1:] {
		least = min(least, (gain+multiplier*p.rate(at))/at.Speed)
	}
	return least
}
