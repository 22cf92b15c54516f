// Package casestudy has what the case studies share: HTML pages, processor time, and the parts of POP.
package casestudy

import (
	"fmt"
	"html/template"
	"io"
	"sync"

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
