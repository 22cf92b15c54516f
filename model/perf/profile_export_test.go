package profile

import "github.com/oxgang/oxgang/model/perf"

// Curve returns what was measured, by ascending CPUs.
func (s *Search) Curve() []perf.CPURate {
	curve := make([]perf.CPURate, len(s.points))
	for i, p := range s.points {
		curve[i] = perf.CPURate{CPUs: float64(p.cpus), Rate: p.rate}
	}
	return curve
}
