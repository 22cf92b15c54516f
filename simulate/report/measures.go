package report

import "github.com/oxgang/oxgang/scheduler/metrics"

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

func allColumns() []column {
	return columnsOf([]Run{{Result: &metrics.Result{Summary: metrics.Summary{Loans: new(metrics.LoanSummary)}}}})
}
