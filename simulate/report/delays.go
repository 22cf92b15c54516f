package report

import (
	"fmt"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/scheduler/metrics/statistics"
)

// Compare sets r.Waits from the trials of r's policy, and r.Delays by comparing them with the baseline's trials of the
// same seeds. Job sizes are relative to Pool, the largest number of GPUs of one type.
func (r *Run) Compare(trials, baseline []statistics.Trial) {
	if len(trials) == 0 {
		return
	}
	r.Pool = trials[0].Pool
	if len(baseline) > 0 {
		r.Pool = baseline[0].Pool
	}
	jobs := make([][]metrics.JobTimes, len(trials))
	for i := range trials {
		jobs[i] = trials[i].Jobs
	}
	r.Waits = metrics.WaitsBySize(r.Pool, jobs...)
	if len(baseline) > 0 && trials[0].Policy != baseline[0].Policy {
		r.Delays = statistics.Delays(trials, baseline)
	}
}

func delayColumns(runs []Run) []column {
	than, largest := "the baseline", largestSize(runs)
	for i := range runs {
		if d := runs[i].Delays; d != nil {
			than = printable.Line(d.Baseline)
		}
	}
	all := []column{
		{"later_pct", "LATER (%)", "Later than under " + than, "%", 1, narrow, ofTheSizes, lower, ofDelays(func(d *metrics.Delays) float64 { return 100 * d.Share() })},
		{"later_jobs", "LATER", "Later", "jobs", 0, wide, ofTheSizes, lower, ofDelays(func(d *metrics.Delays) float64 { return float64(d.Later) })},
		{"later_compared", "COMPARED", "Compared", "jobs", 0, data, ofTheSizes, none, ofDelays(func(d *metrics.Delays) float64 { return float64(d.Compared) })},
		{"later_worst_h", "WORST DELAY (h)", "Worst delay", "h", 2, wide, ofTheSizes, lower, func(r *Run) (float64, bool) {
			if r.Delays == nil {
				return 0, false
			}
			return r.Delays.Worst / 3600, r.Delays.Later > 0
		}},
		{"wait_max_largest_h", "MAX WAIT (h)", "", "h", 2, narrow, ofTheSizes, lower, func(r *Run) (float64, bool) {
			if largest >= len(r.Waits) {
				return 0, false
			}
			return r.Waits[largest].Longest / 3600, r.Waits[largest].Jobs > 0
		}},
		{"largest_pool_gpus", "", "", "", 0, data, ofTheSizes, none, func(r *Run) (float64, bool) { return float64(r.Pool), r.Pool > 0 }},
	}
	for i, key := range metrics.SizeKeys {
		size := sizeName(runs, i)
		all = append(all,
			column{"later_" + key, "", "Later, " + size, "jobs", 0, onPageToo, ofTheSizes, lower, func(r *Run) (float64, bool) {
				if r.Delays == nil {
					return 0, false
				}
				c := &r.Delays.BySize[i]
				return float64(c.Later), c.Compared > 0
			}},
			column{"wait_max_" + key + "_h", "", "Longest wait, " + size, "h", 2, onPageToo, ofTheSizes, lower, waitOf(i, func(w *metrics.Waits) float64 { return w.Longest })},
			column{"wait_p99_" + key + "_h", "", "p99 wait, " + size, "h", 2, onPageToo, ofTheSizes, lower, waitOf(i, func(w *metrics.Waits) float64 { return w.P99 })},
		)
	}
	return all
}

func ofDelays(f func(*metrics.Delays) float64) valueFunc {
	return func(r *Run) (float64, bool) {
		if r.Delays == nil || r.Delays.Compared == 0 {
			return 0, false
		}
		return f(r.Delays), true
	}
}

func waitOf(size int, f func(*metrics.Waits) float64) valueFunc {
	return func(r *Run) (float64, bool) {
		if size >= len(r.Waits) || r.Waits[size].Jobs == 0 {
			return 0, false
		}
		return f(&r.Waits[size]) / 3600, true
	}
}

func largestSize(runs []Run) int {
	largest := 0
	for i := range runs {
		for k := range runs[i].Waits {
			if runs[i].Waits[k].Jobs > 0 {
				largest = max(largest, k)
			}
		}
	}
	return largest
}

func sizeName(runs []Run, size int) string {
	for i := range runs {
		if size < len(runs[i].Waits) {
			return runs[i].Waits[size].String()
		}
	}
	return metrics.SizeKeys[size]
}

func legend(runs []Run) []string {
	var lines []string
	for i := range runs {
		if d := runs[i].Delays; d != nil && d.Compared > 0 {
			lines = append(lines, fmt.Sprintf("LATER: jobs that finish %s later than under %s", metrics.LaterRule, printable.Line(d.Baseline)))
			break
		}
	}
	for i := range runs {
		if len(runs[i].Waits) > 0 {
			largest := largestSize(runs)
			seeds := ""
			if runs[i].Means != nil {
				seeds = " under any seed"
			}
			return append(lines, fmt.Sprintf("MAX WAIT: longest wait for the first start%s, jobs of %s", seeds, sizeName(runs, largest)))
		}
	}
	return lines
}

func worstJob(r *Run) string {
	if r.Delays == nil {
		return ""
	}
	return string(r.Delays.WorstJob)
}
