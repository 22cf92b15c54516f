package budget

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"

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

func (f *Frontier) kind(s *Shown) string {
	switch {
	case s.Budget == f.Least().Budget:
		return "least"
	case s.Budget == f.Most().Budget:
		return "most"
	case s.Knee:
		return "knee"
	}
	return ""
}

func (f *Frontier) detail(s *Shown) []string {
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
