package report

import (
	"slices"
	"strconv"
	"strings"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/metrics"
)

// A trustColumn is a column of tables for programs about how well history is simulated.
type trustColumn struct {
	key   string
	value func(*metrics.Trust) string // a number, true or false, or words
	words bool
}

var trustColumns = []trustColumn{
	{key: "trusted", value: func(t *metrics.Trust) string { return strconv.FormatBool(t.Trusted) }},
	{key: "own_policy_jct_error", value: func(t *metrics.Trust) string { return number(t.JCT) }},
	{key: "own_policy_wait_error", value: func(t *metrics.Trust) string { return number(t.Wait) }},
	{key: "own_policy_median_wait_error", value: func(t *metrics.Trust) string {
		return waits(t, func(w *metrics.WaitErrors) float64 { return w.Median })
	}},
	{key: "own_policy_p90_wait_error", value: func(t *metrics.Trust) string { return waits(t, func(w *metrics.WaitErrors) float64 { return w.P90 }) }},
	{key: "own_policy_utilisation_error", value: func(t *metrics.Trust) string { return number(t.Utilisation) }},
	{key: "not_trusted_because", value: func(t *metrics.Trust) string { return strings.Join(t.Causes, "; ") }, words: true},
}

// waits returns the error of a quantile of waits; empty if it is not known.
func waits(t *metrics.Trust, of func(*metrics.WaitErrors) float64) string {
	if t.Waits == nil {
		return ""
	}
	return number(of(t.Waits))
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// trustOf returns the columns about trust; none if no run simulates history.
func trustOf(runs []Run) []trustColumn {
	if !slices.ContainsFunc(runs, func(r Run) bool { return r.Trust != nil }) {
		return nil
	}
	return trustColumns
}

// text returns the value of a run; empty if it simulates no history.
func (c *trustColumn) text(r *Run) string {
	if r.Trust == nil {
		return ""
	}
	return c.value(r.Trust)
}

// cell returns the value for CSV.
func (c *trustColumn) cell(r *Run) string {
	if c.words {
		return printable.Cell(c.text(r))
	}
	return c.text(r)
}

// literal returns the value as JSON.
func (c *trustColumn) literal(r *Run) string {
	text := c.text(r)
	switch {
	case text == "":
		return "null"
	case c.words:
		return quoted(text)
	}
	return text
}
