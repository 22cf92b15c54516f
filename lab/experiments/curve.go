package experiments

import (
	"cmp"
	"slices"
)

type point struct{ x, y float64 }

func (g Group) curve(x, y metric, results map[string][]measured) []point {
	var c []point
	for _, name := range g {
		c = append(c, point{x.of(results[name]), y.of(results[name])})
	}
	slices.SortFunc(c, func(a, b point) int { return cmp.Compare(a.x, b.x) })
	return c
}

// gain returns the largest (or least) ratio of the other, piecewise linear curve to ours at the same x, over all
// points of both; 0 if there is none.
func gain(ours, other []point, least bool) float64 {
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

func at(c []point, x float64) (y float64, ok bool) {
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
