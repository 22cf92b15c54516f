package shards

import (
	"fmt"
	"html/template"
	"io"
	"strings"
)

// HTML writes one page that loads nothing: the table, the load over the rounds
// (Figure 5.1), and movements, imbalance and time of each method (Figures 5.2 and
// 5.3), round by round.
func HTML(w io.Writer, runs []Run, first int) error {
	p := page{First: first}
	for i := range runs {
		p.Rows = append(p.Rows, pageRow{runs[i].Method, colour(i), runs[i].Summarise(first)})
	}
	if len(runs) > 0 {
		p.Spec, p.Rounds = runs[0].Spec, len(runs[0].Rounds)
		p.Load = newChart(runs[:1], func(r *Round) float64 { return r.MeanLoad })
	}
	p.Charts = []titled{
		{"Movements", "replicas started in the round", newChart(runs, func(r *Round) float64 { return float64(r.Movements) })},
		{"Load imbalance", "most less least loaded server, % of the mean", newChart(runs, func(r *Round) float64 { return 100 * r.Imbalance })},
		{"Replicas", "after the round", newChart(runs, func(r *Round) float64 { return float64(r.Replicas) })},
		{"CPU time", "ms, shim included", newChart(runs, func(r *Round) float64 { return r.CPU.Seconds() * 1e3 })},
	}
	if err := pageTemplate.Execute(w, &p); err != nil {
		return fmt.Errorf("shards: page: %w", err)
	}
	return nil
}

type page struct {
	Spec          Spec
	First, Rounds int
	Rows          []pageRow
	Load          chart
	Charts        []titled
}

type pageRow struct {
	Method, Colour string
	Summary
}

type titled struct {
	Title, Unit string
	Chart       chart
}

// chart is a line per run over the rounds, from 0 to Most.
type chart struct {
	Most  float64
	Lines []chartLine
}

type chartLine struct{ Method, Colour, Points string }

const chartWidth, chartHeight = 640.0, 200.0

func colour(i int) string {
	all := []string{"#2563b0", "#d5562f", "#3a8f4a", "#7d4fa8", "#5a6b7b", "#b3317f", "#8a6d1d", "#128a93"}
	return all[i%len(all)]
}

func newChart(runs []Run, value func(*Round) float64) chart {
	c := chart{Most: 1e-9}
	for i := range runs {
		for k := range runs[i].Rounds {
			c.Most = max(c.Most, value(&runs[i].Rounds[k]))
		}
	}
	for i := range runs {
		var points strings.Builder
		rounds := runs[i].Rounds
		for k := range rounds {
			x := float64(k) / float64(max(1, len(rounds)-1))
			fmt.Fprintf(&points, "%.1f,%.1f ", x*chartWidth, (1-value(&rounds[k])/c.Most)*chartHeight)
		}
		c.Lines = append(c.Lines, chartLine{runs[i].Method, colour(i), points.String()})
	}
	return c
}

var pageTemplate = template.Must(template.New("shards").Funcs(template.FuncMap{
	"ms": ms, "percent": func(x float64) string { return fmt.Sprintf("%.1f", 100*x) },
}).Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Shard load balancing</title>
<style>body{font:15px system-ui,sans-serif;max-width:70em;margin:2em auto;padding:0 1em}table{border-collapse:collapse}td,th{padding:.2em .6em;text-align:right}td:first-child,th:first-child{text-align:left}tr{border-bottom:1px solid #ddd}svg{border:1px solid #ccc;max-width:100%}.soft{color:#5c6670}</style>
</head><body>
<h1>{{.Spec.Shards}} shards on {{.Spec.Servers}} servers, {{.Spec.Drift}} load</h1>
<p class="soft">{{.Rounds}} rounds, of which the first {{.First}} are left out of the table; seed {{.Spec.Seed}}, &epsilon; {{percent .Spec.Epsilon}} %. Times are CPU milliseconds a round.</p>
<table><tr><th>method</th><th>movements</th><th>replicas</th><th>imbalance, %</th><th>worst, %</th><th>over memory, %</th><th>CPU</th><th>p99</th><th>parallel, 64 cores</th></tr>
{{range .Rows}}<tr><td><span style="color:{{.Colour}}">&#9632;</span> {{.Method}}</td><td>{{printf "%.2f" .Movements}}</td><td>{{printf "%.1f" .Replicas}}</td><td>{{percent .Imbalance}}</td><td>{{percent .MostImbalance}}</td><td>{{percent .OverMemory}}</td><td>{{ms .CPU}}</td><td>{{ms .CPU99}}</td><td>{{ms .Parallel}}</td></tr>
{{end}}</table>
{{define "chart"}}<svg width="640" height="200" viewBox="0 0 640 200">{{range .Lines}}<polyline fill="none" stroke="{{.Colour}}" stroke-width="1.5" points="{{.Points}}"/>{{end}}</svg>{{end}}
<h2>Mean load of a server</h2><p class="soft">over the rounds, the hottest shard's load being 1; 0 to {{printf "%.3g" .Load.Most}}</p>{{template "chart" .Load}}
{{range .Charts}}<h2>{{.Title}}</h2><p class="soft">{{.Unit}}; 0 to {{printf "%.3g" .Chart.Most}}</p>{{template "chart" .Chart}}
<p>{{range .Chart.Lines}}<span style="color:{{.Colour}}">&#9632;</span> {{.Method}} {{end}}</p>
{{end}}</body></html>
`))
