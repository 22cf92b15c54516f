package convex

// Evaluate validates the problem, and returns the plan that has these widths.
func (p *Problem) Evaluate(widths [][]Point) (Plan, error) {
	if err := p.Validate(); err != nil {
		return Plan{}, err
	}
	return p.evaluate(widths)
}

// Breakpoints returns the corners of the frontier from Least to Most. Source: BOA §5.3, "Decision Support Tool".
func (f *Frontier) Breakpoints() []Breakpoint {
	at := Breakpoint{Budget: f.Least}
	for e, load := range f.load {
		at.MeanJCT += load * f.gain[e] * f.vertices[f.first[e]].time
	}
	points := make([]Breakpoint, 0, len(f.segments)+1)
	for _, s := range f.segments {
		at.Multiplier = s.slope
		points = append(points, at)
		at.Budget += f.spend(s)
		at.MeanJCT -= f.spend(s) * s.slope
	}
	at.Multiplier = 0
	return append(points, at)
}

// Width returns the mean number of machines, kᵢⱼ of problem (1) in the BOA paper.
func (m Mix) Width() float64 {
	here, there := (1-m.Share)/m.At.Speed, m.Share/m.Next.Speed
	return (here*float64(m.At.Width) + there*float64(m.Next.Width)) / (here + there)
}

// Solve returns the optimum within budget if rescaling takes no time. It returns a *BudgetError if the budget is too
// small. The budget may be infinite.
func (p *Problem) Solve(budget float64) (*Solution, error) {
	f, err := p.Frontier()
	if err != nil {
		return nil, err
	}
	return f.At(budget)
}
