package history

import (
	"fmt"
	"slices"

	"github.com/oxgang/oxgang/scheduler/metrics/statistics"
	"github.com/oxgang/oxgang/simulate/report"
)

// Lines have colours, and dashes for readers who cannot tell these apart.
var (
	observedLine = report.Line{Class: "ink"}
	replayedLine = report.Line{Class: "c0", Dash: "8 4"}
	bestLine     = report.Line{Class: "c1", Dash: "2 3"}
)

func (a *Answer) bars() *report.Figure {
	classes := []string{observedLine.Class, replayedLine.Class, bestLine.Class}
	var all []report.Bar
	for i := range a.Rows {
		r := &a.Rows[i]
		b := report.Bar{Name: r.Name, Text: span(r.MeanWait), Class: classes[min(i, 2)], Value: r.MeanWait}
		if r.Assumes != "" && r.scenario != nil {
			b.Name += " · " + r.Assumes
		}
		if r.High != nil {
			b.Low, b.High = *r.Low, *r.High
		}
		all = append(all, b)
	}
	return report.Bars("Mean wait, observed and under other policies", fmt.Sprintf("Thin lines are %.0f %% intervals.", 100*statistics.Share), all)
}

func (a *Answer) queue() *report.Figure {
	c := report.Lines{
		Title: "How many jobs waited", Note: "Waiting jobs by days since the first submission. Each point is a mean over its interval.",
		XText: func(v float64) string { return fmt.Sprintf("%.3g d", v) }, FromZero: true, Top: 1,
	}
	if len(a.jobs) == 0 {
		return c.Figure()
	}
	first, last := a.jobs[0].Observed.Submitted, a.jobs[0].Observed.Ended
	for i := range a.jobs {
		first, last = min(first, a.jobs[i].Observed.Submitted), max(last, a.jobs[i].Observed.Ended)
	}
	add := func(l report.Line, name string, jobs []Pair, of Select) {
		l.Name = name
		l.X, l.Y = waiting(jobs, first, last, of)
		c.Lines = append(c.Lines, l)
	}
	add(observedLine, asItWas, a.jobs, Observed)
	add(replayedLine, "replayed", a.jobs, Run(0))
	if a.best != nil {
		add(bestLine, called(a.best.policy), a.best.jobs, Run(1))
	}
	return c.Figure()
}

func waiting(jobs []Pair, first, last float64, of Select) (x, y []float64) {
	const parts = 100
	length := max(1, last-first) / parts
	x, y = make([]float64, parts), make([]float64, parts)
	for i := range x {
		x[i] = (float64(i) + 0.5) * length / 86400
	}
	for i := range jobs {
		from := jobs[i].Observed.Submitted - first
		to := min(from+of(&jobs[i]).Wait.Seconds(), last-first)
		for k := int(from / length); k < parts && float64(k)*length < to; k++ {
			y[k] += (min(to, float64(k+1)*length) - max(from, float64(k)*length)) / length
		}
	}
	return x, y
}

func (a *Answer) sizes() *report.Figure {
	if a.Fewer == nil || len(a.Fewer.Tried) < 2 {
		return nil
	}
	best, own := bestLine, replayedLine
	best.Name, own.Name = called(a.best.policy), "replayed, all GPUs"
	for _, s := range a.Fewer.Tried {
		if s.MeanWait <= 4*max(1, a.replayed.MeanWait) {
			best.X, best.Y = append(best.X, float64(s.GPUs)), append(best.Y, s.MeanWait)
		}
	}
	if len(best.X) == 0 {
		return nil
	}
	own.X, own.Y = []float64{slices.Min(best.X), float64(a.GPUs)}, []float64{a.replayed.MeanWait, a.replayed.MeanWait}
	c := report.Lines{
		Title: "GPUs needed for the same waits",
		Note:  fmt.Sprintf("Mean wait under %s with fewer GPUs; each point is simulated. Sizes with more than four times the present wait are left out.", a.Fewer.Policy),
		Lines: []report.Line{own, best}, XText: func(v float64) string { return fmt.Sprintf("%.0f GPUs", v) }, YText: span, Top: 1,
	}
	return c.Figure()
}
