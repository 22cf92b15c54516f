package boa

// Repaired returns in how many epochs of all classes the speeds are not monotone or not
// concave, so that their hulls stand for them. Source: BOA §3.2, "Concavity".
func (p *Problem) Repaired() (int, error) {
	f, err := p.convex.Frontier()
	if err != nil {
		return 0, err
	}
	return f.Repaired, nil
}
