package report

import (
	_ "embed"
	"html/template"
	"slices"
)

// A Figure is a drawing of lines and texts, in SVG coordinates.
type Figure struct {
	Title, Note   string
	Width, Height int
	Strokes       []Stroke
	Curves        []Curve
	Texts         []Label
}

// A Stroke is a straight line; Class is its colour.
type Stroke struct {
	Class          string
	X1, Y1, X2, Y2 float64
	Wide           float64
}

// A Curve is a line through several points; Points is in SVG syntax.
type Curve struct {
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
