package budget

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"

	"github.com/oxgang/oxgang/simulate/report"
)

var (
	//go:embed page/frontier.html
	pageHTML string
	//go:embed page/frontier.css
	pageCSS string
	//go:embed page/frontier.js
	pageJS string
)

type pageView struct {
	Title            string
	Facts            []string
	Width, Height    float64
	Left, Right, Low float64 // in pixels
	Across           string  // the axis' label
	TicksX, TicksY   []report.Tick
	Curves           []pageCurve
	Style            []template.CSS
	Script           template.JS
}

type pageCurve struct {
	Name   string
	Colour int
	Line   string // points of a polyline
	Marks  []pageMark
	Head   []string
	Rows   [][]string
	Offers []string
}

type pageMark struct {
	X, Y   float64
	Kind   string // least, knee, most or empty
	Detail []string
}

// Page writes the frontiers of the workload called name as one HTML page that needs no other file.
func Page(w io.Writer, name string, frontiers []*Frontier) error {
	c := newPlot(frontiers)
	v := pageView{
		Title: "Completion time by budget: " + name, Facts: facts(frontiers[0].Planner),
		Width: chartWidth, Height: chartHeight, Left: chartLeft, Right: chartWidth - chartRight, Low: chartHeight - chartBottom,
		Across: "GPUs on average", TicksX: c.ticksAcross(), TicksY: c.ticksUp(),
		Style: []template.CSS{report.Style, template.CSS(pageCSS)}, Script: template.JS(pageJS), //nolint:gosec // our own files
	}
	if c.perDay {
		v.Across = frontiers[0].Planner.Prices.Currency + " a day"
	}
	for i, f := range frontiers {
		v.Curves = append(v.Curves, f.curve(c, i))
	}
	if err := template.Must(template.New("frontier").Parse(pageHTML)).Execute(w, v); err != nil {
		return fmt.Errorf("frontier page: %w", err)
	}
	return nil
}

func facts(p *Planner) []string {
	w := p.Workload
	facts := []string{
		fmt.Sprintf("%d jobs of %d classes in %s", w.Jobs, len(w.Classes), formatSeconds(w.Span.Seconds())), fmt.Sprintf("up to %d GPUs per job", p.Widest),
		"times are the model's: it ignores node starts, whole nodes and feedback. oxgang plan simulates them",
	}
	for _, c := range w.Classes {
		if c.Guessed != "" {
			facts = append(facts, fmt.Sprintf("guessed of %s: %s", c.Class, c.Guessed))
		}
	}
	return facts
}

func (f *Frontier) curve(c *plot, colour int) pageCurve {
	out := pageCurve{Name: f.Planner.Prices.Name, Colour: colour % 8, Line: c.curve(f), Head: f.head(), Offers: f.Planner.Prices.describe()}
	for i := range f.Shown {
		s := &f.Shown[i]
		m := pageMark{Kind: f.kind(s), Detail: f.detail(s)}
		m.X, m.Y = c.place(s.Budget, s.MeanJCT)
		out.Marks = append(out.Marks, m)
	}
	for _, s := range f.rows() {
		out.Rows = append(out.Rows, f.row(s))
	}
	return out
}

func (f *Frontier) kind(s *shown) string {
	switch {
	case s.Budget == f.least().Budget:
		return "least"
	case s.Budget == f.most().Budget:
		return "most"
	case s.Knee:
		return "knee"
	}
	return ""
}

func (f *Frontier) detail(s *shown) []string {
	l := f.Planner.Prices
	lines := []string{l.Name, unit(l.Currency).atLeast(s.Budget), "mean completion time " + formatSeconds(s.MeanJCT)}
	lines = append(lines, oneMore(l.Currency, s.OneMore, s.MeanJCT), inUse(s.Use))
	if note := f.note(s); note != "" {
		lines = append(lines, note)
	}
	return lines
}

func (l *PriceList) describe() []string {
	var lines []string
	for _, o := range l.Offers {
		line := fmt.Sprintf("%s: nodes of %d %s", o.Name, o.GPUs, o.Type)
		if l.Currency != "" {
			line += fmt.Sprintf(", %s, %s%g per GPU-hour", o.Kind, l.Currency, o.Price)
		}
		if o.Interruptions > 0 {
			line += fmt.Sprintf(", interrupted %g times an hour", o.Interruptions)
		}
		lines = append(lines, line)
	}
	return lines
}

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
		c.across.Low, c.across.High = min(c.across.Low, c.budget(f.least().Budget)), max(c.across.High, c.budget(f.most().Budget))
		c.up.Low, c.up.High = min(c.up.Low, f.most().MeanJCT), max(c.up.High, f.least().MeanJCT)
	}
	c.across.Low, c.across.High = c.across.Low/1.05, c.across.High*1.05
	c.up.Low, c.up.High = c.up.Low/1.1, c.up.High*1.1
	return c
}

func (c *plot) budget(perHour float64) float64 {
	if c.perDay {
		return perHour * day
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
	put(f.most().Budget, f.most().MeanJCT, true)
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
