package report

import (
	_ "embed"
	"html/template"
	"math"
	"slices"
)

// An Axis maps the values from Low to High to the pixels from Start to End of a chart.
type Axis struct {
	Low, High, Start, End float64
	Log                   bool // logarithmic
}

// At returns the pixel of value v. On a logarithmic axis, values below Low are drawn at Low.
func (a Axis) At(v float64) float64 {
	switch {
	case a.High <= a.Low:
		return (a.Start + a.End) / 2
	case a.Log:
		return a.Start + (a.End-a.Start)*math.Log(max(v, a.Low)/a.Low)/math.Log(a.High/a.Low)
	}
	return a.Start + (a.End-a.Start)*(v-a.Low)/(a.High-a.Low)
}

func (a *Axis) include(values ...float64) {
	for _, v := range values {
		a.Low, a.High = min(a.Low, v), max(a.High, v)
	}
}

// Values returns the steps that lie on the axis, for labels. If there are at most three, it returns multiples of the
// largest step that fits three times.
func (a Axis) Values(steps []float64) []float64 {
	var on []float64
	for _, s := range steps {
		if s >= a.Low && s <= a.High {
			on = append(on, s)
		}
	}
	if len(on) > 3 {
		return on
	}
	for _, s := range slices.Backward(steps) {
		if a.High-a.Low >= 3*s {
			on = nil
			first := math.Ceil(a.Low / s)
			for k := range int(math.Floor(a.High/s)-first) + 1 {
				on = append(on, (first+float64(k))*s)
			}
			return on
		}
	}
	return []float64{a.Low}
}

// multiples returns values to label: the multiples of a step that lie on the axis, for the smallest step with no more
// than most of them. On a logarithmic axis it returns Values.
func (a Axis) multiples(steps []float64, most int) []float64 {
	if a.Log {
		return a.Values(steps)
	}
	for _, s := range steps {
		first, last := math.Ceil(a.Low/s-1e-9), math.Floor(a.High/s+1e-9)
		if last-first >= float64(most) {
			continue
		}
		var on []float64
		for k := first; k <= last; k++ {
			on = append(on, k*s+0) // not -0
		}
		return on
	}
	return []float64{a.Low}
}

// Durations returns usual units of time in seconds, from 20 s to ten thousand days.
func Durations() []float64 {
	const minute, hour, day = 60, 3600, 86400
	return []float64{
		1, 2, 5, 10, 20, 30, minute, 2 * minute, 5 * minute, 10 * minute, 20 * minute, 30 * minute, hour, 2 * hour, 4 * hour, 6 * hour, 12 * hour,
		day, 2 * day, 5 * day, 10 * day, 20 * day, 50 * day, 100 * day, 200 * day, 500 * day, 1000 * day, 10_000 * day,
	}
}

// Whole returns 1, 2, 5, 10, 20, 50 and so on.
func Whole() []float64 { return Decades()[27:] }

// Decades returns 1, 2 and 5 times the powers of ten from 1e-9 to 1e18.
func Decades() []float64 {
	var steps []float64
	for e := -9; e <= 18; e++ {
		for _, m := range []float64{1, 2, 5} {
			steps = append(steps, m*math.Pow10(e))
		}
	}
	return steps
}

// A Tick is a label on an axis and its place in pixels.
type Tick struct {
	At   float64
	Text string
}

// Ticks returns labels for Values(steps), at least apart pixels from each other. text formats a value.
func (a Axis) Ticks(steps []float64, apart float64, text func(float64) string) []Tick {
	return a.ticks(a.Values(steps), apart, text)
}

func (a Axis) ticks(values []float64, apart float64, text func(float64) string) []Tick {
	var ticks []Tick
	for _, v := range values {
		at := a.At(v)
		if len(ticks) == 0 || math.Abs(at-ticks[len(ticks)-1].At) >= apart {
			ticks = append(ticks, Tick{at, text(v)})
		}
	}
	return ticks
}

// A Figure is a drawing of lines and texts, in SVG coordinates.
type Figure struct {
	Title, Note   string
	Width, Height int
	Strokes       []Stroke
	Curves        []curve
	Texts         []Label
}

// A Stroke is a straight line; Class is its colour.
type Stroke struct {
	Class          string
	X1, Y1, X2, Y2 float64
	Wide           float64
}

// A Curve is a line through several points; Points is in SVG syntax.
type curve struct {
	Class, Points, Dash, Name string
}

// A Label is a text in a Figure.
type Label struct {
	X, Y   float64
	Anchor string
	Text   string
}

var (
	// Style is the CSS of all pages: colours (c0 to c7, ink), text, tables and figures.
	//go:embed chart.css
	Style template.CSS
	//go:embed figure.html
	figureHTML string
)

// Page parses the template html, in which {{template "figure" .}} draws a Figure.
func Page(html string) *template.Template {
	t := template.Must(template.New("page").Parse(html))
	template.Must(t.New("figure").Parse(figureHTML))
	return t
}

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
