package convex

// A Point is one way to run an epoch: on how many of which kind, and how fast.
type Point struct {
	Kind  int     // index into Problem.Prices; 0 where there is one kind
	Width int     // how many of the kind; at least 1
	Speed float64 // s(k): work per unit of time; need not be 1 at width 1
}

// An Epoch is a part of a job during which its speedup function stays the same.
type Epoch struct {
	Size float64 // E[Xᵢⱼ]: work, which takes as long as this at speed 1
	// Points is the speedup function where it is known: by ascending kind, then by
	// ascending width. It need be neither monotone nor concave: see Frontier.Repaired.
	Points []Point
}

// A Class is a kind of jobs that go through the same epochs.
type Class struct {
	Rate    float64 // λᵢ: arrivals per unit of time
	Weight  float64 // in the mean of completion times; 0 means 1
	Rescale float64 // rᵢ: how long a job makes no progress when it starts and when its width changes
	Epochs  []Epoch
}

// A Problem is a stream of jobs to run as fast as a budget allows. All times are
// in one unit. The methods only read it. Source: BOA §3.1, §4, App. E.1.
type Problem struct {
	// Prices has what one of each kind costs per unit of time. None means one kind of
	// price 1, so that the budget is the mean number in use: GPU hours per hour.
	Prices []float64
	// Costs returns what so many of a kind cost per unit of time, where that is not
	// Prices × width: machines that are rented whole. It is called often, and gives equal
	// answers to equal questions; more of a kind cost no less. Nil: Prices × width.
	Costs   func(kind, width int) float64
	Classes []Class
}

// kinds returns how many kinds there are.
func (p *Problem) kinds() int { return max(len(p.Prices), 1) }

// price returns what one of a kind costs per unit of time.
func (p *Problem) price(kind int) float64 {
	if len(p.Prices) == 0 {
		return 1
	}
	return p.Prices[kind]
}

// rate returns what running at a point costs per unit of time.
func (p *Problem) rate(at Point) float64 {
	if p.Costs != nil {
		return p.Costs(at.Kind, at.Width)
	}
	return p.price(at.Kind) * float64(at.Width)
}

// gains returns what a unit of time of a job of each class adds to the mean, per
// arrival of the class and unit of time: wᵢ / Σ w λ.
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

// epochs returns how many epochs all classes have.
func (p *Problem) epochs() int {
	n := 0
	for i := range p.Classes {
		n += len(p.Classes[i].Epochs)
	}
	return n
}

// bound returns what no policy of the budget undercuts in the mean completion
// time, whatever it does, without time to rescale: the Lagrangian at a multiplier.
// It looks at every point, not at the hulls.
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

// cheapest returns the least of (gain + multiplier × cost rate) / speed: what a
// unit of work costs in the objective.
func (p *Problem) cheapest(points []Point, gain, multiplier float64) float64 {
	least := (gain + multiplier*p.rate(points[0])) / points[0].Speed
	for _, at := range points[1:] {
		least = min(least, (gain+multiplier*p.rate(at))/at.Speed)
	}
	return least
}
