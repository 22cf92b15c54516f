package boa

// Repaired returns the number of epochs, over all classes, whose speeds are not monotone and concave and are
// replaced by their hull. Source: BOA §3.2, "Concavity".
func (p *Problem) Repaired() (int, error) {
	f, err := p.convex.Frontier()
	if err != nil {
		return 0, err
	}
	return f.Repaired, nil
}
