package alternatives

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/oxgang/oxgang/scheduler/metrics/resample"
	"github.com/oxgang/oxgang/simulate/history"
)

// A picture is lines and texts, in points of its view box.
type picture struct {
	Title, Note   string
	Width, Height int
	Lines         []pictureLine
	Paths         []picturePath
	Texts         []pictureText
}

type pictureLine struct {
	Class          string
	X1, Y1, X2, Y2 float64
	Wide           float64
	Dash           string
}

type picturePath struct {
	Class, Points, Dash string
}

type pictureText struct {
	X, Y   float64
	Anchor string
	Text   string
}

// Sizes of pictures.
const (
	pictureWide = 720
	plotHigh    = 240
	plotLeft    = 70
	plotRight   = 530 // labels of lines are right of it
	barHigh     = 26
	barLeft     = 290
)

// The classes of what is drawn, which have colours, and dashes beside them.
const (
	drawnWas   = "was"
	drawnOwn   = "own"
	drawnOther = "other"
)

// dashes tell lines apart without colours.
var dashes = map[string]string{drawnWas: "", drawnOwn: "8 4", drawnOther: "2 3"}

// classOf returns the class of a row.
func classOf(row int) string {
	switch row {
	case 0:
		return drawnWas
	case 1:
		return drawnOwn
	}
	return drawnOther
}

// bars draws the mean wait of every row, with its range.
func (a *Answer) bars() *picture {
	p := &picture{
		Title: "How long jobs waited, and would have", Width: pictureWide, Height: barHigh*len(a.Rows) + 10,
		Note: fmt.Sprintf("Mean wait by policy. Thin lines are the %.0f %% ranges.", 100*resample.Share),
	}
	most := 1.0
	for i := range a.Rows {
		most = max(most, a.Rows[i].most())
	}
	x := func(v float64) float64 { return barLeft + v/most*(pictureWide-barLeft-90) }
	for i := range a.Rows {
		r, y := &a.Rows[i], float64(barHigh*i+barHigh/2+5)
		name := r.Name
		if r.Assumes != "" && r.scenario != nil {
			name += " · " + r.Assumes
		}
		p.Texts = append(p.Texts, pictureText{barLeft - 8, y + 4, "end", name}, pictureText{x(r.most()) + 8, y + 4, "start", span(r.MeanWait)})
		p.Lines = append(p.Lines, pictureLine{Class: classOf(i), X1: barLeft, Y1: y, X2: max(barLeft+1, x(r.MeanWait)), Y2: y, Wide: 12})
		if r.High != nil {
			p.Lines = append(p.Lines, pictureLine{Class: classOf(i), X1: x(*r.Low), Y1: y, X2: x(*r.High), Y2: y, Wide: 2})
		}
	}
	return p
}

// most returns how far a row is drawn.
func (r *Row) most() float64 {
	if r.High == nil {
		return r.MeanWait
	}
	return max(r.MeanWait, *r.High)
}

// A curve is one line of a plot.
type curve struct {
	class, label string
	x, y         []float64
}

// plot draws curves on common axes that begin at 0.
func (p *picture) plot(curves []curve, xLabel, yLabel func(float64) string, fromZero bool) {
	p.Width, p.Height = pictureWide, plotHigh+40
	left, right, top := math.Inf(1), math.Inf(-1), 1.0
	for _, c := range curves {
		left, right, top = min(left, slices.Min(c.x)), max(right, slices.Max(c.x)), max(top, slices.Max(c.y))
	}
	if fromZero {
		left = 0
	}
	x := func(v float64) float64 { return plotLeft + (v-left)/max(1e-9, right-left)*(plotRight-plotLeft) }
	y := func(v float64) float64 { return plotHigh - v/top*(plotHigh-15) }
	p.Lines = append(p.Lines, pictureLine{"axis", plotLeft, plotHigh, plotRight, plotHigh, 1, ""}, pictureLine{"axis", plotLeft, 15, plotLeft, plotHigh, 1, ""})
	for _, part := range []float64{0, 0.5, 1} {
		p.Texts = append(p.Texts, pictureText{plotLeft - 6, y(part*top) + 4, "end", yLabel(part * top)},
			pictureText{x(left + part*(right-left)), plotHigh + 18, "middle", xLabel(left + part*(right-left))})
	}
	last := make([]float64, len(curves))
	for i, c := range curves {
		var points strings.Builder
		for k := range c.x {
			fmt.Fprintf(&points, "%.1f,%.1f ", x(c.x[k]), y(c.y[k]))
		}
		p.Paths = append(p.Paths, picturePath{c.class, strings.TrimSpace(points.String()), dashes[c.class]})
		last[i] = y(c.y[len(c.y)-1])
	}
	for i, at := range apart(last) {
		p.Texts = append(p.Texts, pictureText{plotRight + 6, at + 4, "start", curves[i].label})
	}
}

// apart moves heights of labels so that no two cover one another, in their order.
func apart(at []float64) []float64 {
	const high = 14
	order := make([]int, len(at))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if at[a] < at[b] {
			return 1
		}
		return -1
	})
	moved := slices.Clone(at)
	for k := 1; k < len(order); k++ {
		moved[order[k]] = min(moved[order[k]], moved[order[k-1]]-high)
	}
	return moved
}

// queue draws how many jobs waited over time.
func (a *Answer) queue() *picture {
	p := &picture{Title: "How many jobs waited", Note: "Jobs that have come and not started, by days since the first submission. Each point is a mean over its part of the time."}
	if len(a.jobs) == 0 {
		return p
	}
	first, last := a.jobs[0].Observed.Submitted, a.jobs[0].Observed.Ended
	for i := range a.jobs {
		first, last = min(first, a.jobs[i].Observed.Submitted), max(last, a.jobs[i].Observed.Ended)
	}
	line := func(class, label string, jobs []history.Pair, wait func(*history.Pair) float64) curve {
		c := curve{class: class, label: label}
		c.x, c.y = waiting(jobs, first, last, wait)
		return c
	}
	curves := []curve{
		line(drawnWas, asItWas, a.jobs, func(p *history.Pair) float64 { return p.Observed.Wait.Seconds() }),
		line(drawnOwn, "replayed", a.jobs, func(p *history.Pair) float64 { return p.Runs[0].Wait.Seconds() }),
	}
	if a.best != nil {
		curves = append(curves, line(drawnOther, called(a.best.policy), a.best.jobs, func(p *history.Pair) float64 { return p.Runs[1].Wait.Seconds() }))
	}
	p.plot(curves, func(v float64) string { return fmt.Sprintf("%.3g d", v) }, func(v float64) string { return fmt.Sprintf("%.3g", v) }, true)
	return p
}

// waiting returns the mean number of jobs that wait in each part of the time, in days since the first.
func waiting(jobs []history.Pair, first, last float64, wait func(*history.Pair) float64) (x, y []float64) {
	const parts = 100
	length := max(1, last-first) / parts
	x, y = make([]float64, parts), make([]float64, parts)
	for i := range x {
		x[i] = (float64(i) + 0.5) * length / 86400
	}
	for i := range jobs {
		from := jobs[i].Observed.Submitted - first
		to := min(from+wait(&jobs[i]), last-first)
		for k := int(from / length); k < parts && float64(k)*length < to; k++ {
			y[k] += (min(to, float64(k+1)*length) - max(from, float64(k)*length)) / length
		}
	}
	return x, y
}

// sizes draws how long jobs wait on smaller clusters; nil: none was simulated.
func (a *Answer) sizes() *picture {
	if a.Fewer == nil || len(a.Fewer.Tried) < 2 {
		return nil
	}
	p := &picture{Title: "How many GPUs the same service needs", Note: fmt.Sprintf("Mean wait under %s on part of the GPUs, each point simulated; sizes in which jobs wait more than four times as long as now are left out.", a.Fewer.Policy)}
	other := curve{class: drawnOther, label: called(a.best.policy)}
	for _, s := range a.Fewer.Tried {
		if s.MeanWait <= 4*max(1, a.replayed.MeanWait) {
			other.x, other.y = append(other.x, float64(s.GPUs)), append(other.y, s.MeanWait)
		}
	}
	if len(other.x) == 0 {
		return nil
	}
	least, all := slices.Min(other.x), float64(a.GPUs)
	own := curve{class: drawnOwn, label: "replayed, all GPUs", x: []float64{least, all}, y: []float64{a.replayed.MeanWait, a.replayed.MeanWait}}
	p.plot([]curve{own, other}, func(v float64) string { return fmt.Sprintf("%.0f GPUs", v) }, span, false)
	return p
}
