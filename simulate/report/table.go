package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/oxgang/oxgang/internal/printable"
)

// A Format is the name of a format of tables, such as csv.
type Format string

// Text, wide text, and three for programs.
const (
	Text Format = "table"
	Wide Format = "wide"
	JSON Format = "json"
	YAML Format = "yaml"
	CSV  Format = "csv"
)

// Formats returns all formats.
func Formats() []Format { return []Format{Text, Wide, JSON, YAML, CSV} }

// Table prints one row per run; equal results give equal bytes. JSON, YAML and CSV have full precision, null (CSV:
// empty) for unknown values, and extra columns. Text begins with the verdict, has "-" for unknown values and a star for
// the best policy.
func Table(w io.Writer, runs []Run, f Format) error {
	var out bytes.Buffer
	cols := slices.DeleteFunc(append(columnsOf(runs), delayColumns(runs)...), func(c column) bool { return c.shown == paged })
	switch f {
	case Text:
		writeText(&out, runs, cols, narrow)
	case Wide:
		writeText(&out, runs, cols, wide)
	case JSON:
		writeJSON(&out, runs, cols)
	case YAML:
		writeYAML(&out, runs, cols)
	case CSV:
		writeCSV(&out, runs, cols)
	default:
		return fmt.Errorf("report: format %q, want one of %v", f, Formats())
	}
	if _, err := w.Write(out.Bytes()); err != nil {
		return fmt.Errorf("report: table: %w", err)
	}
	return nil
}

func (c *column) cell(r *Run) string {
	v, ok := c.value(r)
	if !ok {
		return "-"
	}
	return strconv.FormatFloat(v, 'f', c.decimals, 64)
}

// star marks the best value of a column; marked explains the star.
const (
	star   = "*"
	marked = star + " better than under every other policy by more than chance"
)

// starred returns the value for people. A starred column's other values end in a space, to align digits.
func (c *column) starred(r *Run, runs []Run) string {
	switch {
	case c.best(r):
		return c.cell(r) + star
	case slices.ContainsFunc(runs, func(r Run) bool { return c.best(&r) }):
		return c.cell(r) + " "
	}
	return c.cell(r)
}

func (c *column) some(runs []Run) bool {
	return slices.ContainsFunc(runs, func(r Run) bool { _, ok := c.value(&r); return ok })
}

func (c *column) exact(r *Run, missing string) string {
	v, ok := c.value(r)
	if !ok {
		return missing
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

func writeText(out *bytes.Buffer, runs []Run, cols []column, most view) {
	if v := verdictOf(runs); v != nil {
		for _, sentence := range v.Sentences {
			fmt.Fprintln(out, printable.Line(sentence))
		}
		fmt.Fprintln(out)
	}
	rows, stars := make([][]string, 1+len(runs)), false
	rows[0] = []string{"POLICY"}
	for i := range runs {
		rows[i+1] = []string{printable.Line(runs[i].Name)}
	}
	for c := range cols {
		if cols[c].shown > most || !cols[c].some(runs) {
			continue
		}
		rows[0] = append(rows[0], cols[c].header)
		for i := range runs {
			if runs[i].Result != nil {
				rows[i+1] = append(rows[i+1], cols[c].starred(&runs[i], runs))
				stars = stars || cols[c].best(&runs[i])
			}
		}
	}
	widths := widthsOf(rows)
	writeRow(out, rows[0], widths)
	for i := range runs {
		if why := runs[i].failure(); why != "" {
			fmt.Fprintf(out, "%-*s  %s\n", widths[0], rows[i+1][0], printable.Line(why))
			continue
		}
		writeRow(out, rows[i+1], widths)
	}
	if stars {
		fmt.Fprintln(out, marked)
	}
	for _, line := range legend(runs) {
		fmt.Fprintln(out, line)
	}
}

func widthsOf(rows [][]string) []int {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for c, cell := range row {
			widths[c] = max(widths[c], utf8.RuneCountInString(cell))
		}
	}
	return widths
}

func writeRow(out *bytes.Buffer, row []string, widths []int) {
	out.WriteString(row[0])
	pad := widths[0] - utf8.RuneCountInString(row[0])
	for c, cell := range row[1:] {
		out.WriteString(strings.Repeat(" ", pad+2+widths[c+1]-utf8.RuneCountInString(cell)))
		if c == len(row)-2 {
			cell = strings.TrimRight(cell, " ")
		}
		out.WriteString(cell)
		pad = 0
	}
	out.WriteByte('\n')
}

func writeJSON(out *bytes.Buffer, runs []Run, cols []column) {
	out.WriteByte('[')
	for i := range runs {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString("\n  {\n    \"policy\": " + quoted(runs[i].Name))
		for c := range cols {
			fmt.Fprintf(out, ",\n    %s: %s", quoted(cols[c].key), cols[c].exact(&runs[i], "null"))
		}
		fmt.Fprintf(out, ",\n    \"error\": %s", quotedOrNull(runs[i].Error))
		for _, c := range remarksOf(runs) {
			fmt.Fprintf(out, ",\n    %s: %s", quoted(c.key), c.literal(&runs[i]))
		}
		out.WriteString("\n  }")
	}
	if len(runs) > 0 {
		out.WriteByte('\n')
	}
	out.WriteString("]\n")
}

func writeYAML(out *bytes.Buffer, runs []Run, cols []column) {
	if len(runs) == 0 {
		out.WriteString("[]\n")
	}
	for i := range runs {
		fmt.Fprintf(out, "- policy: %s\n", quoted(runs[i].Name))
		for c := range cols {
			fmt.Fprintf(out, "  %s: %s\n", quoted(cols[c].key), cols[c].exact(&runs[i], "null"))
		}
		fmt.Fprintf(out, "  \"error\": %s\n", quotedOrNull(runs[i].Error))
		for _, c := range remarksOf(runs) {
			fmt.Fprintf(out, "  %s: %s\n", quoted(c.key), c.literal(&runs[i]))
		}
	}
}

func quotedOrNull(s string) string {
	if s == "" {
		return "null"
	}
	return quoted(s)
}

func quoted(s string) string {
	text, _ := json.Marshal(s)
	return string(text)
}

func writeCSV(out *bytes.Buffer, runs []Run, cols []column) {
	w := csv.NewWriter(out)
	header := []string{"policy"}
	for c := range cols {
		header = append(header, cols[c].key)
	}
	header = append(header, "error")
	for _, c := range remarksOf(runs) {
		header = append(header, c.key)
	}
	_ = w.Write(header)
	for i := range runs {
		row := []string{printable.Cell(runs[i].Name)}
		for c := range cols {
			row = append(row, cols[c].exact(&runs[i], ""))
		}
		row = append(row, printable.Cell(runs[i].Error))
		for _, c := range remarksOf(runs) {
			row = append(row, c.cell(&runs[i]))
		}
		_ = w.Write(row)
	}
	w.Flush()
}

type remark struct {
	key   string
	value func(*Run) string // empty if unknown
	words bool
}

func remarksOf(runs []Run) []remark {
	var all []remark
	if slices.ContainsFunc(runs, func(r Run) bool { return r.Trust != nil }) {
		all = append(all, trustColumns...)
	}
	if slices.ContainsFunc(runs, func(r Run) bool { return r.Delays != nil }) {
		all = append(all, remark{key: "later_worst_job", value: worstJob, words: true})
	}
	if verdictOf(runs) != nil {
		all = append(all, verdictColumns...)
	}
	return all
}

func (c *remark) cell(r *Run) string {
	if c.words {
		return printable.Cell(c.value(r))
	}
	return c.value(r)
}

func (c *remark) literal(r *Run) string {
	text := c.value(r)
	switch {
	case text == "":
		return "null"
	case c.words:
		return quoted(text)
	}
	return text
}
