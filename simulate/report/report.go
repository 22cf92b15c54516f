// Package report shows runs as tables, CSV files, and one self-contained HTML page.
package report

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/scheduler/metrics/statistics"
)

// A Run is one simulated or live run, as a row of a report.
type Run struct {
	Name   string          `json:"policy"` // policy, and whatever else distinguishes runs
	Result *metrics.Result `json:"result"` // nil if failed
	// Error is shown in place of numbers.
	Error string `json:"error,omitempty"`
	// Trust is the accuracy of the replay; nil if nothing was recorded.
	Trust *metrics.Trust `json:"trust,omitempty"`
	// Policy is set if Name contains more than the policy; empty if the run is not compared.
	Policy string `json:"-"`
	// Observed states that this is the recorded run, not a simulation.
	Observed bool `json:"-"`
	// Means replace measures by means over seeds: see Averaged.
	Means map[string]float64 `json:"means,omitempty"`
	// Verdict is shared by all compared runs.
	Verdict *statistics.Verdict `json:"verdict,omitempty"`
	// Delays are set by Compare; nil for the baseline.
	Delays *metrics.Delays `json:"delays,omitempty"`
	// Waits are by job size, over all seeds, set by Compare.
	Waits []metrics.Waits `json:"waits,omitempty"`
	Pool  int             `json:"largest_pool_gpus,omitempty"` // largest number of GPUs of one type, for sizes
	// PolicyTimes has the policy's time by round, if measured, outside JSON.
	PolicyTimes []time.Duration `json:"-"`
}

// Times prints how long the policy of each run took to plan a round, in milliseconds.
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
