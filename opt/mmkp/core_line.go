package mmkp

import "math"

type line struct {
	left, right, middle []int32 // the items' columns at three points of it
	moving              []int32 // items whose left and right columns differ
	probe               []float64
}

type tangent struct{ t, bound, slope float64 }

func crossing(a, b tangent) float64 {
	t := a.t + ((b.bound-a.bound)-b.slope*(b.t-a.t))/(a.slope-b.slope)
	return min(max(t, a.t), b.t)
}

func (a tangent) at(t float64) float64 { return a.bound + a.slope*(t-a.t) }

// walk goes from the vertex (bound d) along s.steep (slope < 0) to the lowest point, and returns the plane there. It
// closes in with tangents from both sides. Where they meet, the bound either touches them, which is the lowest point,
// or gives a better tangent. The bound has finitely many pieces, so this ends. An item with the same column on both
// sides has it in between, so each evaluation looks at fewer items.
func (s *coreProblem) walk(d, slope float64) plane {
	copy(s.left, s.pick)
	for r := range s.planes {
		if s.leads(r) {
			s.left[s.planes[r].item], _ = s.cheapest(r, s.steep)
		}
	}
	end, stop := s.reach()
	left, right := tangent{0, d, slope}, tangent{t: end}
	s.step(end)
	right.bound, right.slope = s.evaluate(s.probe, s.steep, s.right)
	if right.slope < 0 {
		return stop
	}
	s.moving = s.moving[:0]
	for i := range s.left {
		s.moving = append(s.moving, int32(i))
	}
	for range 100 {
		s.settleMoving()
		t := crossing(left, right)
		mid, above, size := s.between(left, t)
		switch {
		case above <= 1e-15*size || t == left.t || t == right.t:
			return s.parting(stop)
		case mid.slope < 0:
			left = mid
			s.adopt(s.left)
		default:
			right = mid
			s.adopt(s.right)
		}
	}
	return s.parting(stop)
}

func (s *coreProblem) step(t float64) {
	for k, x := range s.vertex {
		s.probe[k] = max(0, x+t*s.steep[k])
	}
}

func (s *coreProblem) settleMoving() {
	n := 0
	for _, i := range s.moving {
		if s.left[i] != s.right[i] {
			s.moving[n] = i
			n++
		}
	}
	s.moving = s.moving[:n]
}

// between returns the tangent at step t, the height of the bound above the left tangent, and the size of the numbers
// in that difference.
func (s *coreProblem) between(left tangent, t float64) (mid tangent, above, size float64) {
	s.step(t)
	mid = tangent{t, left.at(t), left.slope}
	for _, i := range s.moving {
		c, worth := s.take(int(i), s.probe)
		was := s.left[i]
		s.middle[i] = c
		size += math.Abs(s.Columns[c].Nudged) + math.Abs(s.Columns[was].Nudged)
		above += worth - (s.Columns[was].Nudged - s.Cost(&s.Columns[was], s.probe))
		mid.slope += s.Cost(&s.Columns[was], s.steep) - s.Cost(&s.Columns[c], s.steep)
	}
	mid.bound += above
	return mid, above, size
}

func (s *coreProblem) adopt(side []int32) {
	for _, i := range s.moving {
		side[i] = s.middle[i]
	}
}

func (s *coreProblem) reach() (end float64, stop plane) {
	end = math.Inf(1)
	largest := 0.0
	for _, d := range s.steep {
		largest = max(largest, math.Abs(d))
	}
	for k, d := range s.steep {
		if math.Abs(d) < 1e-11*largest {
			s.steep[k] = 0 // rounding error
			continue
		}
		b := &s.Ranges[k]
		if t := max(0, s.vertex[k]-b.Low) / -d; d < 0 && t < end {
			end, stop = t, plane{bend: floor, k: k, at: b.Low}
		}
		if t := max(0, b.High-s.vertex[k]) / d; d > 0 && t < end {
			end, stop = t, plane{bend: roof, k: k, at: b.High}
		}
	}
	return end, stop
}

// parting returns the tie of the item whose left and right columns differ most in cost along the edge; stop if none
// differs.
func (s *coreProblem) parting(stop plane) plane {
	most, found := 0.0, stop
	for _, i := range s.moving {
		a, b := s.left[i], s.right[i]
		turn := math.Abs(s.Cost(&s.Columns[a], s.steep) - s.Cost(&s.Columns[b], s.steep))
		if turn > most {
			most = turn
			found = plane{bend: tie, k: -1, item: i, a: a, b: b, at: s.Columns[a].Nudged - s.Columns[b].Nudged}
		}
	}
	return found
}
