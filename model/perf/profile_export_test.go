package perf

// Curve returns what was measured, by ascending CPUs.
func (s *CPUSearch) Curve() []CPURate {
	curve := make([]CPURate, len(s.points))
	for i, p := range s.points {
		curve[i] = CPURate{CPUs: float64(p.cpus), Rate: p.rate}
	}
	return curve
}
