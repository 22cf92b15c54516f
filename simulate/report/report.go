// Package report shows how runs went: as a table for terminals and programs,
// as CSV files, and as one HTML page that needs no network.
package report

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/scheduler/metrics/verdict"
)

// A Run is one simulated or live run to report on.
type Run struct {
	Name   string          `json:"policy"` // the policy, and what else distinguishes runs
	Result *metrics.Result `json:"result"` // nil if the run failed
	// Error says why the run failed: its row says so in place of numbers, and it is in no plot.
	Error string `json:"error,omitempty"`
	// Trust says how well the history that was simulated is simulated under its own policy; nil: it
	// was none. Tables for programs have it in columns after all others.
	Trust *metrics.Trust `json:"trust,omitempty"`
	// Policy is that of the run, where Name says more; empty: the run is not compared.
	Policy string `json:"-"`
	// Observed says that the run was not simulated: it is what happened.
	Observed bool `json:"-"`
	// Means are the measures that tables show, by name, in place of those of Result: see Averaged. Nil: those of Result.
	Means map[string]float64 `json:"means,omitempty"`
	// Verdict says which policy is best, the same for all runs; nil: no policies are compared.
	Verdict *verdict.Verdict `json:"verdict,omitempty"`
	// Delays are against the baseline, by Compare; nil: it was not run, or this is its run.
	Delays *metrics.Delays `json:"delays,omitempty"`
	// Waits are by size, over all seeds of the row, by Compare.
	Waits []metrics.Waits `json:"waits,omitempty"`
	Pool  int             `json:"largest_pool_gpus,omitempty"` // sizes are relative to it
	// PolicyTimes are the times the policy took, one per round; nil if they
	// were not measured. They differ between machines, so only HTML, CSVs and
	// Times show them, and JSON leaves them out.
	PolicyTimes []time.Duration `json:"-"`
}

// Times writes one line per run with the distribution of its policy times, in
// milliseconds per round. Runs without any have no line.
func Times(w io.Writer, runs []Run) error {
	for i := range runs {
		ms := sortedMillis(runs[i].PolicyTimes)
		if len(ms) == 0 {
			continue
		}
		_, err := fmt.Fprintf(w, "%s: policy time per round: median %.3g ms, p99 %.3g ms, max %.3g ms over %d rounds\n",
			printable.Line(runs[i].Name), metrics.Quantile(ms, 0.5), metrics.Quantile(ms, 0.99), ms[len(ms)-1], len(ms))
		if err != nil {
			return fmt.Errorf("report: policy times: %w", err)
		}
	}
	return nil
}

func sortedMillis(times []time.Duration) []float64 {
	ms := make([]float64, len(times))
	for i, d := range times {
		ms[i] = float64(d) / float64(time.Millisecond)
	}
	slices.Sort(ms)
	return ms
}

// ended returns the runs that did not fail.
func ended(runs []Run) []Run {
	return slices.DeleteFunc(slices.Clone(runs), func(r Run) bool { return r.Result == nil })
}

// failure returns what stands in place of the numbers of a run that failed; empty: it did not.
func (r *Run) failure() string {
	if r.Result != nil {
		return ""
	}
	return "failed: " + r.Error
}

// gpuTypes returns the GPU types of all runs, by first appearance.
func gpuTypes(runs []Run) []cluster.GPUType {
	types := []cluster.GPUType{}
	for i := range runs {
		for _, t := range runs[i].Result.Types {
			if !slices.Contains(types, t) {
				types = append(types, t)
			}
		}
	}
	return types
}
