package budget

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// The chart's size, and its margins, in pixels.
const (
	chartWidth, chartHeight = 920.0, 400.0
	chartLeft, chartBottom  = 64.0, 34.0
	chartTop, chartRight    = 14.0, 20.0
)

// An axis is logarithmic: from low to high on the pixels from start to end.
type axis struct{ low, high, start, end float64 }

// at returns where a value is, in pixels.
func (a axis) at(v float64) float64 {
	if a.high <= a.low {
		return (a.start + a.end) / 2
	}
	return a.start + (a.end-a.start)*math.Log(v/a.low)/math.Log(a.high/a.low)
}

// ticks returns the values to label among steps, a list of round numbers; where few of
// them lie on the axis, multiples of the largest of them that make three.
func (a axis) ticks(steps []float64) []float64 {
	var on []float64
	for _, s := range steps {
		if s >= a.low && s <= a.high {
			on = append(on, s)
		}
	}
	if len(on) > 3 {
		return on
	}
	for _, s := range slices.Backward(steps) {
		if a.high-a.low >= 3*s {
			on = nil
			first := math.Ceil(a.low / s)
			for k := range int(math.Floor(a.high/s)-first) + 1 {
				on = append(on, (first+float64(k))*s)
			}
			return on
		}
	}
	return []float64{a.low}
}

// decades are 1, 2 and 5 times the powers of ten from 1e-9 to 1e18: with prices in their
// bounds, what a day costs is less.
func decades() []float64 {
	var steps []float64
	for e := -9; e <= 18; e++ {
		for _, m := range []float64{1, 2, 5} {
			steps = append(steps, m*math.Pow10(e))
		}
	}
	return steps
}

// spans are the times that people count in, in seconds, and from a year on decades of days.
func spans() []float64 {
	steps := []float64{
		0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 2 * 3600, 4 * 3600, 8 * 3600, 16 * 3600,
		86400, 2 * 86400, 4 * 86400, 8 * 86400, 16 * 86400, 32 * 86400, 64 * 86400, 128 * 86400, 256 * 86400,
	}
	for _, days := range decades() {
		if days > 365 {
			steps = append(steps, days*86400)
		}
	}
	return steps
}

// A chart is frontiers on two axes.
type chart struct {
	across, up axis
	perDay     bool // across is money per day, else GPUs
}

// newChart returns the axes on which all frontiers lie.
func newChart(all []*Frontier) *chart {
	c := &chart{perDay: all[0].Planner.Prices.Currency != ""}
	c.across = axis{math.Inf(1), 0, chartLeft, chartWidth - chartRight}
	c.up = axis{math.Inf(1), 0, chartHeight - chartBottom, chartTop}
	for _, f := range all {
		c.across.low, c.across.high = min(c.across.low, c.budget(f.Least().Budget)), max(c.across.high, c.budget(f.Most().Budget))
		c.up.low, c.up.high = min(c.up.low, f.Most().MeanJCT), max(c.up.high, f.Least().MeanJCT)
	}
	c.across.low, c.across.high = c.across.low/1.05, c.across.high*1.05
	c.up.low, c.up.high = c.up.low/1.1, c.up.high*1.1
	return c
}

// budget returns a budget per hour as the axis has it.
func (c *chart) budget(perHour float64) float64 {
	if c.perDay {
		return perHour * Day
	}
	return perHour
}

// place returns where a budget per hour and a mean are, in pixels.
func (c *chart) place(perHour, jct float64) (x, y float64) {
	return c.across.at(c.budget(perHour)), c.up.at(jct)
}

// curve returns a frontier as the points of an SVG polyline: straight pieces are curved
// on these axes, and points that nobody can tell apart are left out.
func (c *chart) curve(f *Frontier) string {
	const pieces, apart = 12, 0.5
	var b strings.Builder
	lastX, lastY := math.Inf(-1), 0.0
	put := func(budget, jct float64, always bool) {
		x, y := c.place(budget, jct)
		if always || math.Hypot(x-lastX, y-lastY) >= apart {
			fmt.Fprintf(&b, "%.1f,%.1f ", x, y)
			lastX, lastY = x, y
		}
	}
	for i, p := range f.Points[:len(f.Points)-1] {
		next := f.Points[i+1]
		for k := range pieces {
			part := float64(k) / pieces
			put(p.Budget+part*(next.Budget-p.Budget), p.MeanJCT+part*(next.MeanJCT-p.MeanJCT), false)
		}
	}
	put(f.Most().Budget, f.Most().MeanJCT, true)
	return strings.TrimSpace(b.String())
}

// A tick is a labelled place on an axis, in pixels.
type tick struct {
	At   float64
	Text string
}

func (c *chart) ticksAcross() []tick {
	return labelled(c.across, decades(), 46, func(v float64) string { return strings.TrimSuffix(figure(v), ".00") })
}

func (c *chart) ticksUp() []tick { return labelled(c.up, spans(), 16, brief) }

// brief writes seconds without the units that are 0: 2h0m0s is 2h.
func brief(seconds float64) string {
	text := lasting(seconds)
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// labelled returns the ticks of an axis that are at least so many pixels apart.
func labelled(a axis, steps []float64, apart float64, text func(float64) string) []tick {
	var ticks []tick
	for _, v := range a.ticks(steps) {
		at := a.at(v)
		if len(ticks) == 0 || math.Abs(at-ticks[len(ticks)-1].At) >= apart {
			ticks = append(ticks, tick{at, text(v)})
		}
	}
	return ticks
}
