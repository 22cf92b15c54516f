// Package casestudy has what the case studies share: HTML pages, processor time, and the parts of POP.
package casestudy

import (
	"fmt"
	"html/template"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/simulate/report"
)

// A Page is an HTML page with tables, heat maps and charts.
type Page struct {
	Title, Intro string
	Tables       []Table
	HeatMaps     []HeatMap
	Charts       []report.Lines
}

// A Table has text in its first column, and numbers in the others.
type Table struct {
	Title string // may be empty
	Head  []string
	Rows  [][]string
}

// Style returns the CSS of the page.
func (p *Page) Style() template.CSS { return report.Style }

// Write writes the page as HTML.
func (p *Page) Write(w io.Writer) error {
	if err := layout().Execute(w, p); err != nil {
		return fmt.Errorf("page: %w", err)
	}
	return nil
}

var layout = sync.OnceValue(func() *template.Template { return report.Page(layoutHTML) })

const layoutHTML = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{{.Title}}</title>
<style>{{.Style}} .soft{color:var(--soft)}.heat td{color:#111}.marked{outline:2px solid #333;outline-offset:-2px;font-weight:bold}</style>
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
{{end}}{{range .Charts}}<h2>{{.Title}}</h2>
{{template "figure" .Figure}}{{end}}</body></html>
`

// A HeatMap is a table with cells that are shaded by their values.
type HeatMap struct {
	Title, Intro, Down, Across string // Down and Across are axis titles
	Columns                    []string
	Rows                       []HeatRow
}

// A HeatRow is a row of a HeatMap, with a cell per column.
type HeatRow struct {
	Name  string
	Cells []HeatCell
}

// A HeatCell is a text on a background that Heat shades, from 0 (lightest) to 1. Marked adds a frame.
type HeatCell struct {
	Text   string
	Heat   float64
	Marked bool
}

var coldest, hottest = [3]float64{0xf7, 0xfb, 0xff}, [3]float64{0x2f, 0x7f, 0xbc}

// Colour returns the background colour of the cell in CSS syntax.
func (c *HeatCell) Colour() string {
	heat := min(max(c.Heat, 0), 1)
	var rgb [3]int
	for i := range rgb {
		rgb[i] = int(coldest[i] + heat*(hottest[i]-coldest[i]))
	}
	return fmt.Sprintf("#%02x%02x%02x", rgb[0], rgb[1], rgb[2])
}

// A Clock returns the processor time that the program has used so far. A nil Clock always reads 0.
type Clock func() time.Duration

// Read returns the processor time used so far.
func (c Clock) Read() time.Duration {
	if c == nil {
		return 0
	}
	return c()
}

// Makespan returns when the last of the jobs ends. They start in the given order, each on the core that is free first.
// It panics if cores is below 1. Source: thesis §5.2 ("estimated parallel runtimes computed mathematically for 64
// cores").
func Makespan(jobs []time.Duration, cores int) time.Duration {
	free := make([]time.Duration, cores)
	for _, d := range jobs {
		i := 0
		for c := range free {
			if free[c] < free[i] {
				i = c
			}
		}
		free[i] += d
	}
	return slices.Max(free)
}

// Quantile returns the smallest duration such that at least a fraction q of all durations is not above it. The
// durations may be in any order.
func Quantile(all []time.Duration, q float64) time.Duration {
	return metrics.Quantile(slices.Sorted(slices.Values(all)), q)
}
