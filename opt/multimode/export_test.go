package multimode

import "math"

// Gap returns (Bound − Value) / |Bound|; 0 if they are equal, +∞ if only Bound is 0.
func (t *Schedule) Gap() float64 {
	if t.Bound <= t.Value {
		return 0
	}
	return (t.Bound - t.Value) / math.Abs(t.Bound)
}
