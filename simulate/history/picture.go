package history

import (
	"fmt"
	"math"
	"slices"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/simulate/report"
)

// Lines have colours, and dashes for readers who cannot tell these apart.
var (
	observedLine = report.Line{Class: "ink"}
	replayedLine = report.Line{Class: "c0", Dash: "8 4"}
	bestLine     = report.Line{Class: "c1", Dash: "2 3"}
)

func (a *Answer) waitsBySize() *report.Figure {
	const left, right, high, most = 150.0, 350.0, 18.0, 420
	f := &report.Figure{Title: "Mean wait by job size", Width: most, Note: "Groups by requested GPUs."}
	rows, names := a.beforeAndAfter()
	x := report.Axis{High: 1, Start: left, End: right}
	for _, r := range rows {
		for i := range r.waits {
			x.High = max(x.High, r.waits[i].Mean)
		}
	}
	y := 4.0
	for i := range rows[0].waits {
		if rows[0].waits[i].Jobs == 0 {
			continue
		}
		f.Texts = append(f.Texts, report.Label{X: 0, Y: y + high - 4, Anchor: "start", Text: fmt.Sprintf("%s (%s)", rows[0].waits[i].Size, printable.Count(rows[0].waits[i].Jobs, "job"))})
		y += high
		for k, r := range rows {
			at := y + high/2
			end := x.At(r.waits[i].Mean)
			f.Strokes = append(f.Strokes, report.Stroke{Class: []string{observedLine.Class, bestLine.Class}[k], X1: left, Y1: at, X2: max(left+1, end), Y2: at, Wide: high - 6})
			f.Texts = append(f.Texts, report.Label{X: left - 6, Y: at + 4, Anchor: "end", Text: names[k]}, report.Label{X: end + 6, Y: at + 4, Anchor: "start", Text: span(r.waits[i].Mean)})
			y += high
		}
	}
	f.Height = int(y) + 6
	return f
}

func (a *Answer) beforeAndAfter() (rows []*Row, names []string) {
	if a.best == nil {
		return []*Row{&a.Rows[0]}, []string{asItWas}
	}
	return []*Row{&a.Rows[0], a.best}, []string{asItWas, called(a.best.policy)}
}

// tick formats a round number of seconds, in the largest unit that divides it.
func tick(seconds float64) string {
	for _, u := range []struct {
		seconds float64
		name    string
	}{{86400, "d"}, {3600, "h"}, {60, "min"}} {
		if seconds > 0 && math.Mod(seconds, u.seconds) == 0 {
			return fmt.Sprintf("%.3g %s", seconds/u.seconds, u.name)
		}
	}
	return fmt.Sprintf("%.3g s", seconds)
}

func (a *Answer) queue() *report.Figure {
	c := report.Lines{
		Title: "How many jobs waited", Note: "Waiting jobs by time since the first submission. Each point is a mean over its interval.",
		XText: tick, XSteps: report.Durations(), YSteps: report.Whole(), FromZero: true, Top: 1,
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
		x[i] = (float64(i) + 0.5) * length
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
		Title: "Mean wait with fewer GPUs",
		Note:  fmt.Sprintf("Under %s; each point is simulated. Sizes with more than four times the present wait are left out.", a.Fewer.Policy),
		Lines: []report.Line{own, best}, XText: func(v float64) string { return fmt.Sprintf("%.0f GPUs", v) }, XSteps: report.Whole(), YText: tick, YSteps: report.Durations(), Top: 1,
	}
	return c.Figure()
}
