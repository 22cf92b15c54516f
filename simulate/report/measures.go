package report

import (
	"slices"
	"strings"

	"github.com/oxgang/oxgang/scheduler/metrics"
)

// Measures returns the measurements of run r by name, such as "jct_mean_h"; nil if r failed.
func Measures(r *Run) map[string]float64 {
	values := make(map[string]float64)
	for _, c := range columnsOf([]Run{*r}) {
		if v, known := c.value(r); known && c.shown != paged {
			values[c.key] = v
		}
	}
	return values
}

// MeasureNames returns the names of all measures in the order of tables, except the measures for each GPU type.
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

// IsMeasure reports whether a measure with this name exists.
func IsMeasure(name string) bool {
	return slices.Contains(MeasureNames(), name) || strings.HasPrefix(name, "utilisation_") && strings.HasSuffix(name, "_pct")
}
