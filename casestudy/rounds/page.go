package rounds

import (
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"
)

// HTML writes one page that loads nothing: the summaries, the distribution of
// round times (Figure 4.5), what changed from round to round (Figure 4.2), and
// what the relaxed solutions are made of (Figure 4.4).
func HTML(w io.Writer, s Study, all []Measurement) error {
	p := page{Study: s, Summaries: Summarise(all), Times: newPlot("share of the rounds", "CPU time, ms"), Changes: newPlot("round", "values that changed, ppm")}
	for i, sum := range p.Summaries {
		var times, share, at, changed []float64
		for _, m := range all {
			if m.Engine == sum.Engine && m.Round >= WarmUp {
				times = append(times, m.Total().Seconds()*1e3)
				at, changed = append(at, float64(m.Round)), append(changed, 1e6*float64(m.Changed)/float64(m.Pairs))
			}
		}
		slices.Sort(times)
		for k := range times {
			share = append(share, float64(k+1)/float64(len(times)))
		}
		p.Times.add(i, sum.Engine, share, times)
		p.Changes.add(i, sum.Engine, at, changed)
	}
	return pageTemplate.Execute(w, p)
}

type page struct {
	Study          Study
	Summaries      []Summary
	Times, Changes *plot
}

// A plot has lines over a linear horizontal and a logarithmic vertical axis.
type plot struct {
	Across, Up string
	Lines      []plotLine
	lowX, upX  float64
	lowY, upY  float64
}

type plotLine struct {
	Name, Colour string
	x, y         []float64
}

const plotWidth, plotHeight = 640.0, 260.0

var colours = []string{"#3366cc", "#dc3912", "#ff9900", "#109618", "#990099", "#0099c6", "#dd4477", "#66aa00"}

func newPlot(across, up string) *plot {
	return &plot{Across: across, Up: up, lowX: infinite, upX: -infinite, lowY: infinite, upY: -infinite}
}

// add adds a line; values of 0 and less are left out.
func (p *plot) add(i int, name string, x, y []float64) {
	l := plotLine{Name: name, Colour: colours[i%len(colours)]}
	for k, v := range y {
		if v > 0 {
			l.x, l.y = append(l.x, x[k]), append(l.y, v)
			p.lowX, p.upX = min(p.lowX, x[k]), max(p.upX, x[k])
			p.lowY, p.upY = min(p.lowY, v), max(p.upY, v)
		}
	}
	p.Lines = append(p.Lines, l)
}

// Points returns a line's points as SVG has them.
func (p *plot) Points(l plotLine) string {
	var b strings.Builder
	for i := range l.x {
		x := (l.x[i] - p.lowX) / max(p.upX-p.lowX, 1e-12)
		y := math.Log(l.y[i]/p.lowY) / max(math.Log(p.upY/p.lowY), 1e-12)
		fmt.Fprintf(&b, "%.1f,%.1f ", x*plotWidth, (1-y)*plotHeight)
	}
	return b.String()
}

// Range says what the axes span.
func (p *plot) Range() string {
	if p.upX < p.lowX {
		return "nothing above 0"
	}
	return fmt.Sprintf("%.3g to %.3g upwards (logarithmic), %.3g to %.3g across", p.lowY, p.upY, p.lowX, p.upX)
}

var pageTemplate = template.Must(template.New("rounds").Funcs(template.FuncMap{
	"ms":  ms,
	"ppm": func(x float64) string { return fmt.Sprintf("%.3g", 1e6*x) },
	"e":   func(x float64) string { return fmt.Sprintf("%.1e", x) },
	"mb":  func(b uint64) string { return fmt.Sprintf("%.1f", float64(b)/1e6) },
}).Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Rounds of {{.Study.Spec.GPUs}} GPUs</title>
<style>body{font:15px sans-serif;max-width:70em;margin:2em auto}td,th{padding:.2em .6em;text-align:right}td:first-child,th:first-child{text-align:left}table{border-collapse:collapse}tr{border-bottom:1px solid #ddd}svg{border:1px solid #ccc;overflow:visible}</style>
</head><body>
<h1>Rounds of {{.Study.Spec.GPUs}} GPUs, {{.Study.Spec.Jobs}} jobs</h1>
<p>CPU milliseconds; {{.Study.Rounds}} rounds, seed {{.Study.Spec.Seed}}. The gap is the worst, to the best proven bound of the round.</p>
<table><tr><th>engine</th><th>cold</th><th>edit</th><th>solve</th><th>shim</th><th>p50</th><th>p90</th><th>p99</th><th>value</th><th>gap</th><th>violation</th><th>heap, MB</th></tr>
{{range .Summaries}}<tr><td>{{.Engine}}</td><td>{{ms .Cold}}</td><td>{{ms .Edit}}</td><td>{{ms .Solve}}</td><td>{{ms .Shim}}</td><td>{{ms .P50}}</td><td>{{ms .P90}}</td><td>{{ms .P99}}</td><td>{{printf "%.6g" .Value}}</td><td>{{e .Gap}}</td><td>{{printf "%.2g" .Violation}}</td><td>{{mb .HeapBytes}}</td></tr>
{{end}}</table>
{{define "plot"}}{{$p := .}}<svg width="640" height="260" viewBox="0 0 640 260">{{range .Lines}}<polyline fill="none" stroke="{{.Colour}}" stroke-width="1.5" points="{{$p.Points .}}"/>{{end}}</svg>
<p>{{.Up}}, against {{.Across}}: {{.Range}}. {{range .Lines}}<span style="color:{{.Colour}}">{{.Name}}</span> {{end}}</p>{{end}}
<h2>Time of a round (Figure 4.5)</h2>{{template "plot" .Times}}
<h2>Changes between rounds (Figure 4.2)</h2>{{template "plot" .Changes}}
<h2>The relaxed solution (Figure 4.4)</h2>
<table><tr><th>engine</th><th>values of 1, ppm</th><th>between 0 and 1, ppm</th><th>changed, ppm</th><th>added and removed, ppm</th></tr>
{{range .Summaries}}<tr><td>{{.Engine}}</td><td>{{ppm .Ones}}</td><td>{{ppm .Between}}</td><td>{{ppm .Changed}}</td><td>{{ppm .Churned}}</td></tr>
{{end}}</table></body></html>
`))
