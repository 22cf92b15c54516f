// Package page writes the case studies' results as one HTML file that loads
// nothing: tables, shaded tables, and charts of lines.
package page

import (
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"
	"sync"
)

// A Page is a title, a few sentences, tables, heat maps and charts.
type Page struct {
	Title, Intro string
	Tables       []Table
	HeatMaps     []HeatMap
	Charts       []Chart
}

// A Table has as many cells in each row as in its head. The first column is
// text, the others are numbers.
type Table struct {
	Title string // empty: none
	Head  []string
	Rows  [][]string
}

// A Chart draws lines. Up says what the vertical axis measures, Across the other.
type Chart struct {
	Title, Up, Across string
	// Logarithmic draws the vertical axis so, over six powers of ten at most;
	// values of 0 and less are drawn at its lower end. Otherwise it starts at 0.
	Logarithmic bool
	Lines       []Line
}

// A Line goes through its points in order.
type Line struct {
	Name string
	X, Y []float64
}

// Write writes the page.
func (p *Page) Write(w io.Writer) error {
	if err := layout().Execute(w, p); err != nil {
		return fmt.Errorf("page: %w", err)
	}
	return nil
}

const width, height = 640.0, 220.0

// colours are told apart by people who see few.
var colours = []string{"#2563b0", "#d5562f", "#3a8f4a", "#7d4fa8", "#5a6b7b", "#b3317f", "#8a6d1d", "#128a93"}

// Colour returns the colour of line i.
func (c *Chart) Colour(i int) string { return colours[i%len(colours)] }

// span is what an axis shows.
type span struct{ low, high float64 }

func (s *span) add(x float64) { s.low, s.high = min(s.low, x), max(s.high, x) }

// place returns where x is on the axis, from 0 to 1.
func (s span) place(x float64) float64 {
	if s.high <= s.low {
		return 0
	}
	return (x - s.low) / (s.high - s.low)
}

// spans returns what the axes show. The vertical one's ends are logarithms if the
// chart is logarithmic.
func (c *Chart) spans() (across, up span) {
	across = span{math.Inf(1), math.Inf(-1)}
	up = across
	if !c.Logarithmic {
		up = span{}
	}
	for _, l := range c.Lines {
		for k, y := range l.Y {
			across.add(l.X[k])
			switch {
			case !c.Logarithmic:
				up.add(y)
			case y > 0:
				up.add(math.Log10(y))
			}
		}
	}
	if c.Logarithmic {
		up.low = max(up.low, up.high-6)
	}
	return across, up
}

// Points returns a line's points as SVG has them.
func (c *Chart) Points(l Line) string {
	across, up := c.spans()
	var b strings.Builder
	for k, y := range l.Y {
		switch {
		case c.Logarithmic && y <= 0:
			y = up.low
		case c.Logarithmic:
			y = max(up.low, math.Log10(y))
		}
		fmt.Fprintf(&b, "%.1f,%.1f ", across.place(l.X[k])*width, (1-up.place(y))*height)
	}
	return b.String()
}

// Range says what the vertical axis spans.
func (c *Chart) Range() string {
	_, up := c.spans()
	switch {
	case up.high < up.low:
		return "nothing above 0"
	case c.Logarithmic:
		return fmt.Sprintf("%.3g to %.3g, logarithmic", math.Pow(10, up.low), math.Pow(10, up.high))
	}
	return fmt.Sprintf("%.3g to %.3g", up.low, up.high)
}

// layout is parsed when a page is asked for, not before main.
var layout = sync.OnceValue(func() *template.Template { return template.Must(template.New("page").Parse(layoutHTML)) })

const layoutHTML = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{{.Title}}</title>
<style>body{font:15px system-ui,sans-serif;max-width:70em;margin:2em auto;padding:0 1em}table{border-collapse:collapse}td,th{padding:.2em .6em;text-align:right}td:first-child,th:first-child{text-align:left}tr{border-bottom:1px solid #ddd}svg{border:1px solid #ccc;max-width:100%}.soft{color:#5c6670}.heat td{color:#111}.marked{outline:2px solid #333;outline-offset:-2px;font-weight:bold}</style>
</head><body>
<h1>{{.Title}}</h1>
<p class="soft">{{.Intro}}</p>
{{range .Tables}}{{with .Title}}<h2>{{.}}</h2>
{{end}}<table><tr>{{range .Head}}<th>{{.}}</th>{{end}}</tr>
{{range .Rows}}<tr>{{range .}}<td>{{.}}</td>{{end}}</tr>
{{end}}</table>
{{end}}{{range .HeatMaps}}<h2>{{.Title}}</h2>
{{with .Intro}}<p class="soft">{{.}}</p>
{{end}}<table class="heat"><tr><th></th><th colspan="{{len .Columns}}">{{.Across}}</th></tr>
<tr><th>{{.Down}}</th>{{range .Columns}}<th>{{.}}</th>{{end}}</tr>
{{range .Rows}}<tr><th>{{.Name}}</th>{{range .Cells}}<td{{if .Marked}} class="marked"{{end}} style="background:{{.Colour}}">{{.Text}}</td>{{end}}</tr>
{{end}}</table>
{{end}}{{range $c := .Charts}}<h2>{{.Title}}</h2>
<p class="soft">{{.Up}}, over {{.Across}}; {{.Range}}</p>
<svg width="640" height="220" viewBox="0 0 640 220">{{range $i, $l := .Lines}}<polyline fill="none" stroke="{{$c.Colour $i}}" stroke-width="1.5" points="{{$c.Points $l}}"><title>{{$l.Name}}</title></polyline>{{end}}</svg>
<p>{{range $i, $l := .Lines}}<span style="color:{{$c.Colour $i}}">&#9632;</span> {{$l.Name}} {{end}}</p>
{{end}}</body></html>
`
