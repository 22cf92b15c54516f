package mmkp

import "math"

// line is the search for the lowest point of the bound on one edge.
type line struct {
	left, right, middle []int32 // columns the items take at three points of it
	probe               []float64
}

// A tangent supports the bound at step t of the edge.
type tangent struct{ t, bound, slope float64 }

// crossing returns where the tangents a (falling) and b (not falling) meet.
func crossing(a, b tangent) float64 {
	t := a.t + ((b.bound-a.bound)-b.slope*(b.t-a.t))/(a.slope-b.slope)
	return min(max(t, a.t), b.t)
}

func (a tangent) at(t float64) float64 { return a.bound + a.slope*(t-a.t) }

// walk goes from the vertex (bound d) along s.steep (slope < 0) to the lowest
// point, and returns the plane that stops it there. It closes in with the
// tangents of both sides: where they meet, the bound either touches them, and
// that is the point, or it yields a better tangent. Finite, as the bound has
// finitely many pieces; in practice about six evaluations.
func (s *Solver) walk(d, slope float64) plane {
	copy(s.left, s.pick)
	for r := range s.planes {
		if s.leads(r) {
			s.left[s.planes[r].item], _ = s.cheapest(r, s.steep)
		}
	}
	end, stop := s.reach()
	left := tangent{0, d, slope}
	right := s.tangent(end, s.right)
	if right.slope < 0 {
		return stop
	}
	for range 100 {
		t := crossing(left, right)
		low := left.at(t)
		mid := s.tangent(t, s.middle)
		if mid.bound-low <= 1e-13*math.Abs(low) {
			break
		}
		if mid.slope < 0 {
			left, s.left, s.middle = mid, s.middle, s.left
		} else {
			right, s.right, s.middle = mid, s.middle, s.right
		}
	}
	return s.parting(stop)
}

// tangent evaluates the bound at step t of the edge.
func (s *Solver) tangent(t float64, pick []int32) tangent {
	for k, x := range s.vertex {
		s.probe[k] = max(0, x+t*s.steep[k])
	}
	d, slope := s.evaluate(s.probe, s.steep, pick)
	return tangent{t, d, slope}
}

// reach returns how far the edge goes until a price is at the end of its range.
func (s *Solver) reach() (end float64, stop plane) {
	end = math.Inf(1)
	for k, d := range s.steep {
		if t := -s.vertex[k] / d; d < 0 && t < end {
			end, stop = t, plane{bend: floor, k: k}
		}
		if t := max(0, s.roofs[k]-s.vertex[k]) / d; d > 0 && t < end {
			end, stop = t, plane{bend: roof, k: k, at: s.roofs[k]}
		}
	}
	return end, stop
}

// parting returns the tie of the item whose columns left and right of the
// lowest point differ most in cost along the edge; stop if none differs.
func (s *Solver) parting(stop plane) plane {
	most, found := 0.0, stop
	for i, a := range s.left {
		b := s.right[i]
		if a == b {
			continue
		}
		if turn := math.Abs(s.cost(i, a, s.steep) - s.cost(i, b, s.steep)); turn > most {
			most = turn
			found = plane{bend: tie, k: -1, item: int32(i), a: a, b: b, at: s.columns[a].lp - s.columns[b].lp}
		}
	}
	return found
}
