package report

import (
	"fmt"
	"math"
	"strings"
)

// A Line is a curve of a chart, through its points in order.
type Line struct {
	Name  string
	X, Y  []float64
	Class string // empty: by its index
	Dash  string
}

// Lines is a chart of several lines on the same axes.
type Lines struct {
	Title, Note string
	Lines       []Line
	// XText and YText format values; by default with three digits.
	XText, YText func(float64) string
	// XSteps and YSteps are the steps for Axis.Multiples, which chooses the labels; by default Decades.
	XSteps, YSteps []float64
	// Logarithmic makes the vertical axis logarithmic, with at most six powers of ten. Otherwise it includes 0 and Top.
	Logarithmic bool
	Top         float64
	FromZero    bool // the horizontal axis starts at 0
}

const (
	chartWidth = 720.0
	high       = 240.0
	left       = 70.0
	right      = 530.0
	upper      = 15.0
)

// Figure draws the lines, with names at their ends.
func (c *Lines) Figure() *Figure {
	f := &Figure{Title: c.Title, Note: c.Note, Width: chartWidth, Height: high + 40}
	f.Strokes = []Stroke{{"axis", left, high, right, high, 1}, {"axis", left, upper, left, high, 1}}
	across, up := c.axes()
	if up.Low > up.High || across.Low > across.High {
		f.Texts = []Label{{(left + right) / 2, high / 2, "middle", "nothing to draw"}}
		return f
	}
	for _, t := range up.labels(c.YSteps, 6, 24, c.YText) {
		f.Strokes = append(f.Strokes, Stroke{"axis", left, t.At, right, t.At, 0.5})
		f.Texts = append(f.Texts, Label{left - 6, t.At + 4, "end", t.Text})
	}
	for _, t := range across.labels(c.XSteps, 5, 80, c.XText) {
		f.Texts = append(f.Texts, Label{t.At, high + 18, "middle", t.Text})
	}
	ends := make([]float64, len(c.Lines))
	for i := range c.Lines {
		l := &c.Lines[i]
		ends[i] = up.At(l.Y[len(l.Y)-1])
		f.Curves = append(f.Curves, curve{l.class(i), l.points(across, up), l.Dash, l.Name})
	}
	for i, at := range apart(ends) {
		f.Texts = append(f.Texts, Label{right + 6, at + 4, "start", c.Lines[i].Name})
	}
	return f
}

func (a Axis) labels(steps []float64, most int, apart float64, write func(float64) string) []Tick {
	if steps == nil {
		steps = Decades()
	}
	return a.ticks(a.multiples(steps, most), apart, func(v float64) string { return text(write, v) })
}

func (c *Lines) axes() (across, up Axis) {
	across = Axis{Low: math.Inf(1), High: math.Inf(-1), Start: left, End: right}
	up = Axis{Low: math.Inf(1), High: math.Inf(-1), Start: high, End: upper, Log: c.Logarithmic}
	for i := range c.Lines {
		l := &c.Lines[i]
		across.include(l.X...)
		for _, y := range l.Y {
			if !c.Logarithmic || y > 0 {
				up.include(y)
			}
		}
	}
	switch {
	case up.Low > up.High:
	case c.Logarithmic:
		up.Low = max(up.Low, up.High/1e6)
	default:
		up.include(0, c.Top)
	}
	if c.FromZero {
		across.Low = 0
	}
	return across, up
}

func (l *Line) class(i int) string {
	if l.Class != "" {
		return l.Class
	}
	return fmt.Sprintf("c%d", i%8)
}

func (l *Line) points(across, up Axis) string {
	var b strings.Builder
	for k := range l.X {
		fmt.Fprintf(&b, "%.1f,%.1f ", across.At(l.X[k]), up.At(l.Y[k]))
	}
	return strings.TrimSpace(b.String())
}

func text(write func(float64) string, v float64) string {
	if write == nil {
		return fmt.Sprintf("%.3g", v)
	}
	return write(v)
}
