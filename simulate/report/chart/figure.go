// Package chart draws lines and bars as SVG, on pages that need no other file and no network.
package chart

import (
	_ "embed"
	"html/template"
	"slices"
)

// A Figure is lines and texts, in points of its view box.
type Figure struct {
	Title, Note   string
	Width, Height int
	Strokes       []Stroke
	Curves        []Curve
	Texts         []Text
}

// A Stroke is a straight line. Class is its colour: see Style.
type Stroke struct {
	Class          string
	X1, Y1, X2, Y2 float64
	Wide           float64
}

// A Curve goes through points, as SVG has them.
type Curve struct {
	Class, Points, Dash, Name string
}

// A Text is a label.
type Text struct {
	X, Y   float64
	Anchor string
	Text   string
}

var (
	// Style has the colours of all pages, c0 to c7 and ink, and how their text, tables and figures look.
	//go:embed page.css
	Style template.CSS
	//go:embed figure.html
	figureHTML string
)

// Page parses the template of a page, in which {{template "figure" .}} draws a Figure.
func Page(html string) *template.Template {
	t := template.Must(template.New("page").Parse(html))
	template.Must(t.New("figure").Parse(figureHTML))
	return t
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
