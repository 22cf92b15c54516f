package convex

import "slices"

type corner struct {
	rate, speed float64
	point       int32
}

// A vertex is a hull's corner per unit of work, from cheap to fast, ever less steep.
type vertex struct {
	cost, time float64
	point      int32
}

// A hull is the least monotone concave function above the points and 0, from the cheapest to the fastest corner.
// Source: BOA §3.2 and App. E.3.
type hull struct {
	corners  []corner
	merged   []corner
	repaired bool // a speed is below the hull of its kind
}

// add appends a corner unless it is no faster than the last, and removes corners on or below the new hull.
func (h *hull) add(c corner) {
	n := len(h.corners)
	if n > 0 && c.speed <= h.corners[n-1].speed {
		h.repaired = h.repaired || c.speed < h.corners[n-1].speed
		return
	}
	for ; n > 0; n-- {
		var before corner
		if n > 1 {
			before = h.corners[n-2]
		}
		last := h.corners[n-1]
		here, there := (last.speed-before.speed)*(c.rate-last.rate), (c.speed-last.speed)*(last.rate-before.rate)
		if here > there {
			break
		}
		h.repaired = h.repaired || here < there*(1-slack)
	}
	h.corners = append(h.corners[:n], c)
}

// of computes the hull of an epoch, in linear time. Source: BOA App. B.
func (h *hull) of(p *Problem, points []Point) {
	h.corners, h.merged, h.repaired = h.corners[:0], h.merged[:0], false
	for n, at := range points {
		if n > 0 && at.Kind != points[n-1].Kind {
			h.merged = append(h.merged, h.corners...)
			h.corners = h.corners[:0]
		}
		h.add(corner{p.rate(at), at.Speed, int32(n)})
	}
	if len(h.merged) > 0 {
		h.merge()
	}
}

// merge makes the hull of all kinds. It does not count as a repair.
func (h *hull) merge() {
	repaired := h.repaired
	h.merged = append(h.merged, h.corners...)
	slices.SortFunc(h.merged, cheaper)
	h.corners = h.corners[:0]
	for _, c := range h.merged {
		h.add(c)
	}
	h.repaired = repaired
}

// cheaper sorts corners by rate, then by point, without the NaN checks of cmp.Compare.
func cheaper(a, b corner) int {
	switch {
	case a.rate < b.rate:
		return -1
	case a.rate > b.rate:
		return 1
	default:
		return int(a.point - b.point)
	}
}

// vertices appends the hull per unit of work, without corners that differ by rounding.
func (h *hull) vertices(out []vertex) []vertex {
	first := len(out)
	for _, c := range h.corners {
		v := vertex{cost: c.rate / c.speed, time: 1 / c.speed, point: c.point}
		n := len(out)
		for n > first && v.cost <= out[n-1].cost*(1+slack) {
			n--
		}
		if n == first || v.time < out[n-1].time*(1-slack) {
			out = append(out[:n], v)
		}
	}
	return out
}
