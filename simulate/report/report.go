// Package report shows runs as a table for terminals and programs, as CSV files, and as one self-contained HTML page.
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

// A Run is one simulated or live run.
type Run struct {
	Name   string          `json:"policy"` // row name: the policy, and what else distinguishes runs
	Result *metrics.Result `json:"result"` // nil if the run failed
	// Error is why the run failed. It is shown in place of numbers.
	Error string `json:"error,omitempty"`
	// Trust is the accuracy of a replay of recorded history; nil if nothing was recorded.
	Trust *metrics.Trust `json:"trust,omitempty"`
	// Policy is the run's policy if Name has more; empty if the run is not compared.
	Policy string `json:"-"`
	// Observed marks the recorded run.
	Observed bool `json:"-"`
	// Means replace the measures of Result by means over seeds: see Averaged.
	Means map[string]float64 `json:"means,omitempty"`
	// Verdict is shared by all compared runs.
	Verdict *verdict.Verdict `json:"verdict,omitempty"`
	// Delays are against the baseline, set by Compare; nil for the baseline or without one.
	Delays *metrics.Delays `json:"delays,omitempty"`
	// Waits are by size over all seeds of the row, set by Compare.
	Waits []metrics.Waits `json:"waits,omitempty"`
	Pool  int             `json:"largest_pool_gpus,omitempty"` // base of sizes
	// PolicyTimes has the policy's run time in each round, if measured. It depends on the machine, so JSON leaves it
	// out.
	PolicyTimes []time.Duration `json:"-"`
}

// Times writes the distribution of policy times of each run, in milliseconds per round.
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

func ended(runs []Run) []Run {
	return slices.DeleteFunc(slices.Clone(runs), func(r Run) bool { return r.Result == nil })
}

// failure returns the text of a failed run in place of numbers.
func (r *Run) failure() string {
	if r.Result != nil {
		return ""
	}
	return "failed: " + r.Error
}

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
