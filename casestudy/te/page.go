package te

import (
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"
)

// HTML writes one page that loads nothing: the table, the distribution of the
// demands (Figure 5.4), and flow, gap and time of each method, round by round
// (Figures 5.5 and 5.6).
func HTML(w io.Writer, title string, demands []Demand, rounds []Round, first int) error {
	p := page{Title: title, First: first, Rows: Summarise(rounds, first), Demands: demandChart(demands)}
	p.Charts = []chart{
		newChart("Total flow", "of the demand, %", rounds, func(r *Round) float64 { return 100 * r.Flow / r.Demand }),
		newChart("Optimality gap", "to the best bound, %", rounds, func(r *Round) float64 { return 100 * r.Gap() }),
		newChart("CPU time", "seconds, the parts of pop:K side by side", rounds, func(r *Round) float64 { return r.Parallel.Seconds() }),
	}
	if err := pageTemplate.Execute(w, &p); err != nil {
		return fmt.Errorf("te: page: %w", err)
	}
	return nil
}

type page struct {
	Title   string
	First   int
	Rows    []Summary
	Demands chart
	Charts  []chart
}

// A chart has lines over a linear horizontal and a logarithmic vertical axis.
type chart struct {
	Title, Unit string
	Low, Most   float64
	Lines       []line
}

// A line is drawn through its points, x from 0 to 1.
type line struct {
	Name, Colour string
	x, y         []float64
}

const chartWidth, chartHeight = 640.0, 200.0

var colours = []string{"#2563b0", "#d5562f", "#3a8f4a", "#7d4fa8", "#5a6b7b", "#b3317f", "#8a6d1d", "#128a93"}

// newChart draws a value of every round, a line per method.
func newChart(title, unit string, rounds []Round, value func(*Round) float64) chart {
	c := chart{Title: title, Unit: unit}
	last := 0
	for i := range rounds {
		last = max(last, rounds[i].Round)
	}
	for i := range rounds {
		r := &rounds[i]
		at := slices.IndexFunc(c.Lines, func(l line) bool { return l.Name == r.Method })
		if at < 0 {
			at = len(c.Lines)
			c.Lines = append(c.Lines, line{Name: r.Method, Colour: colours[at%len(colours)]})
		}
		l := &c.Lines[at]
		l.x, l.y = append(l.x, float64(r.Round)/float64(max(1, last))), append(l.y, value(r))
	}
	c.scale()
	return c
}

// demandChart draws the volume that each share of the demands does not exceed.
func demandChart(demands []Demand) chart {
	c := chart{Title: "Demands", Unit: "volume, by the share of demands that have no more", Lines: []line{{Name: "first round", Colour: colours[0]}}}
	order := heaviest(demands)
	slices.Reverse(order)
	const points = 400
	for k := range points + 1 {
		i := k * (len(order) - 1) / points
		c.Lines[0].x = append(c.Lines[0].x, float64(k)/points)
		c.Lines[0].y = append(c.Lines[0].y, demands[order[i]].Volume)
	}
	c.scale()
	return c
}

// scale finds what the vertical axis spans, six powers of ten at most.
func (c *chart) scale() {
	c.Low = math.Inf(1)
	for _, l := range c.Lines {
		for _, y := range l.y {
			c.Most = max(c.Most, y)
			if y > 0 {
				c.Low = min(c.Low, y)
			}
		}
	}
	c.Low = max(min(c.Low, c.Most/1.001), c.Most*1e-6)
}

// Points returns a line's points as SVG has them.
func (c *chart) Points(l line) string {
	var b strings.Builder
	for i := range l.x {
		y := 0.0
		if c.Most > 0 {
			y = math.Log(max(l.y[i], c.Low)/c.Low) / math.Log(c.Most/c.Low)
		}
		fmt.Fprintf(&b, "%.1f,%.1f ", l.x[i]*chartWidth, (1-y)*chartHeight)
	}
	return b.String()
}

var pageTemplate = template.Must(template.New("te").Funcs(template.FuncMap{
	"seconds": seconds, "percent": func(x float64) string { return fmt.Sprintf("%.3f", 100*x) },
	"points": func(c chart, l line) string { return c.Points(l) },
	"one":    func(c chart) []chart { return []chart{c} },
}).Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Traffic engineering</title>
<style>body{font:15px system-ui,sans-serif;max-width:70em;margin:2em auto;padding:0 1em}table{border-collapse:collapse}td,th{padding:.2em .6em;text-align:right}td:first-child,th:first-child{text-align:left}tr{border-bottom:1px solid #ddd}svg{border:1px solid #ccc;max-width:100%}.soft{color:#5c6670}</style>
</head><body>
<h1>{{.Title}}</h1>
<p class="soft">Means over the rounds, the first {{.First}} left out. Flow is feasible; topped up, all that still fits is added. Gaps are to the best bound that any method proved.</p>
<table><tr><th>method</th><th>flow</th><th>of demand, %</th><th>gap, %</th><th>topped up</th><th>gap, %</th><th>CPU, s</th><th>parallel, s</th></tr>
{{range .Rows}}<tr><td>{{.Method}}</td><td>{{printf "%.0f" .Flow}}</td><td>{{percent .Served}}</td><td>{{percent .Gap}}</td><td>{{printf "%.0f" .ToppedUp}}</td><td>{{percent .ToppedGap}}</td><td>{{seconds .CPU}}</td><td>{{seconds .Parallel}}</td></tr>
{{end}}</table>
{{define "charts"}}{{range $c := .}}<h2>{{.Title}}</h2><p class="soft">{{.Unit}}; {{printf "%.3g" .Low}} to {{printf "%.3g" .Most}}, logarithmic</p>
<svg width="640" height="200" viewBox="0 0 640 200">{{range .Lines}}<polyline fill="none" stroke="{{.Colour}}" stroke-width="1.5" points="{{points $c .}}"/>{{end}}</svg>
<p>{{range .Lines}}<span style="color:{{.Colour}}">&#9632;</span> {{.Name}} {{end}}</p>
{{end}}{{end}}{{template "charts" (one .Demands)}}{{template "charts" .Charts}}</body></html>
`))
