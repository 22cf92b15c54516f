package report

import (
	"slices"
	"strings"

	"github.com/oxgang/oxgang/scheduler/metrics"
)

// Measures returns a run's known numbers by name; none if it failed.
func Measures(r *Run) map[string]float64 {
	values := make(map[string]float64)
	for _, c := range columnsOf([]Run{*r}) {
		if v, known := c.value(r); known && c.shown != paged {
			values[c.key] = v
		}
	}
	return values
}

// MeasureNames returns all names in table order, without those by GPU type.
func MeasureNames() []string {
	var names []string
	for _, c := range allColumns() {
		if c.shown != paged {
			names = append(names, c.key)
		}
	}
	return names
}

func allColumns() []column {
	return columnsOf([]Run{{Result: &metrics.Result{Summary: metrics.Summary{Loans: new(metrics.LoanSummary)}}}})
}

// IsMeasure reports whether Measures can have a name.
func IsMeasure(name string) bool {
	return slices.Contains(MeasureNames(), name) || strings.HasPrefix(name, "utilisation_") && strings.HasSuffix(name, "_pct")
}
