package experiments

import (
	"cmp"
	"slices"
)

// A spot is a run on a curve: what one metric is where another is x.
type spot struct{ x, y float64 }

// curve returns a metric of the runs of a group over another, by ascending x.
func (g Group) curve(x, y metric, results map[string][]measured) []spot {
	var c []spot
	for _, name := range g {
		c = append(c, spot{x.of(results[name]), y.of(results[name])})
	}
	slices.SortFunc(c, func(a, b spot) int { return cmp.Compare(a.x, b.x) })
	return c
}

// gain returns how many times what ours has the other curve has at the same x, where this
// is most, or least, of the spots of both. Curves are straight between spots; x that only
// one of them reaches do not count. It is 0 if there is no other.
func gain(ours, other []spot, least bool) float64 {
	best := 0.0
	for _, s := range slices.Concat(ours, other) {
		mine, ok := at(ours, s.x)
		theirs, there := at(other, s.x)
		if g := theirs / mine; ok && there && (best == 0 || (g < best) == least) {
			best = g
		}
	}
	return best
}

// at returns a curve's y at x, and whether x lies within it.
func at(c []spot, x float64) (y float64, ok bool) {
	if len(c) == 1 && c[0].x == x {
		return c[0].y, true
	}
	for i := 1; i < len(c); i++ {
		if a, b := c[i-1], c[i]; a.x <= x && x <= b.x {
			if a.x == b.x {
				return min(a.y, b.y), true
			}
			return a.y + (x-a.x)/(b.x-a.x)*(b.y-a.y), true
		}
	}
	return 0, false
}
