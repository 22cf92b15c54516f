package report

import (
	"slices"
	"strings"

	"github.com/oxgang/oxgang/scheduler/metrics"
)

// Measures returns the numbers of a summary that are known, by the names that tables for programs have.
// It is empty for a run that failed.
func Measures(r *Run) map[string]float64 {
	values := make(map[string]float64)
	for _, c := range columnsOf([]Run{*r}) {
		if v, known := c.value(r); known && c.shown != paged {
			values[c.key] = v
		}
	}
	return values
}

// MeasureNames returns the names of Measures in the order of tables, but those by GPU type: see IsMeasure.
func MeasureNames() []string {
	var names []string
	for _, c := range columnsOf([]Run{{Result: &metrics.Result{Summary: metrics.Summary{Loans: new(metrics.LoanSummary)}}}}) {
		if c.shown != paged {
			names = append(names, c.key)
		}
	}
	return names
}

// IsMeasure reports whether Measures can have a number of a name.
func IsMeasure(name string) bool {
	return slices.Contains(MeasureNames(), name) || strings.HasPrefix(name, "utilisation_") && strings.HasSuffix(name, "_pct")
}
