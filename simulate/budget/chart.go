package budget

import (
	"fmt"
	"math"
	"strings"

	"github.com/oxgang/oxgang/simulate/report"
)

const (
	chartWidth, chartHeight = 920.0, 400.0
	chartLeft, chartBottom  = 64.0, 34.0
	chartTop, chartRight    = 14.0, 20.0
)

func spans() []float64 {
	steps := []float64{
		0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 2 * 3600, 4 * 3600, 8 * 3600, 16 * 3600,
		86400, 2 * 86400, 4 * 86400, 8 * 86400, 16 * 86400, 32 * 86400, 64 * 86400, 128 * 86400, 256 * 86400,
	}
	for _, days := range report.Decades() {
		if days > 365 {
			steps = append(steps, days*86400)
		}
	}
	return steps
}

type plot struct {
	across, up report.Axis
	perDay     bool // money instead of GPUs
}

func newPlot(all []*Frontier) *plot {
	c := &plot{perDay: all[0].Planner.Prices.Currency != ""}
	c.across = report.Axis{Low: math.Inf(1), Start: chartLeft, End: chartWidth - chartRight, Log: true}
	c.up = report.Axis{Low: math.Inf(1), Start: chartHeight - chartBottom, End: chartTop, Log: true}
	for _, f := range all {
		c.across.Low, c.across.High = min(c.across.Low, c.budget(f.Least().Budget)), max(c.across.High, c.budget(f.Most().Budget))
		c.up.Low, c.up.High = min(c.up.Low, f.Most().MeanJCT), max(c.up.High, f.Least().MeanJCT)
	}
	c.across.Low, c.across.High = c.across.Low/1.05, c.across.High*1.05
	c.up.Low, c.up.High = c.up.Low/1.1, c.up.High*1.1
	return c
}

func (c *plot) budget(perHour float64) float64 {
	if c.perDay {
		return perHour * Day
	}
	return perHour
}

func (c *plot) place(perHour, jct float64) (x, y float64) {
	return c.across.At(c.budget(perHour)), c.up.At(jct)
}

func (c *plot) curve(f *Frontier) string {
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

func (c *plot) ticksAcross() []report.Tick {
	return c.across.Ticks(report.Decades(), 46, func(v float64) string { return strings.TrimSuffix(figure(v), ".00") })
}

func (c *plot) ticksUp() []report.Tick { return c.up.Ticks(spans(), 16, brief) }

func brief(seconds float64) string {
	text := formatSeconds(seconds)
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
