package convex

// Evaluate validates the problem, and returns the plan that has these widths.
func (p *Problem) Evaluate(widths [][]Point) (Plan, error) {
	if err := p.Validate(); err != nil {
		return Plan{}, err
	}
	return p.evaluate(widths)
}
