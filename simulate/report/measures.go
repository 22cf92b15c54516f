package report

import (
	"slices"
	"strings"

	"github.com/oxgang/oxgang/scheduler/metrics"
)

// Measures returns the known numbers of a run by their names in tables for programs; none for a failed run.
func Measures(r *Run) map[string]float64 {
	values := make(map[string]float64)
	for _, c := range columnsOf([]Run{*r}) {
		if v, known := c.value(r); known && c.shown != paged {
			values[c.key] = v
		}
	}
	return values
}

// MeasureNames returns the names of Measures in table order, without those by GPU type: see IsMeasure.
func MeasureNames() []string {
	var names []string
	for _, c := range allColumns() {
		if c.shown != paged {
			names = append(names, c.key)
		}
	}
	return names
}

// allColumns returns the columns of a run that can borrow nodes, without those by GPU type.
func allColumns() []column {
	return columnsOf([]Run{{Result: &metrics.Result{Summary: metrics.Summary{Loans: new(metrics.LoanSummary)}}}})
}

// IsMeasure reports whether Measures can have the name.
func IsMeasure(name string) bool {
	return slices.Contains(MeasureNames(), name) || strings.HasPrefix(name, "utilisation_") && strings.HasSuffix(name, "_pct")
}
