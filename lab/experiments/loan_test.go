package experiments

import (
	"math"
	"testing"

	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/simulate/run"
)

// Two runs: of the first two of three jobs borrowed, of the second nothing can be lent.
func TestLoanMetrics(t *testing.T) {
	first := run.Run{Result: &metrics.Result{
		Summary: metrics.Summary{Jobs: 4, Preemptions: 3, Resizes: 6, LostHours: 5, Utilisation: 0.1, Loans: &metrics.LoanSummary{
			Training: 0.7, OnLoan: 0.9, Overall: 0.6, LentHours: 12, ShortHours: 4, Loans: 2, Nodes: 8, Reclaims: 10, Reclaimed: 14,
			Preempted: 1, Taken: 16, Lost: 18, Flexible: 0.5, OfRunning: 0.2, OfBorrowing: 0.4, Damage: 0.3,
			Priced: 5, TrainingPrice: 600, LoanPrice: 200, ServerPrice: 1600, ReturnCost: 2.5,
		}},
		Jobs: []metrics.JobResult{
			{Outcome: metrics.Done, JCT: 100, Queued: 10, OnLoan: true},
			{Outcome: metrics.Done, JCT: 200, Queued: 20},
			{Outcome: metrics.Done, JCT: 300, Queued: 60, OnLoan: true},
			{Outcome: metrics.Active, JCT: 9000, Queued: 900, OnLoan: true},
		},
	}}
	second := run.Run{Result: &metrics.Result{
		Summary: metrics.Summary{Jobs: 4, Preemptions: 1, Utilisation: 0.5},
		Jobs:    []metrics.JobResult{{Outcome: metrics.Done, JCT: 400, Queued: 30}},
	}}
	want := map[string]float64{
		"jct_mean_s": 250, "jct_p50_s": 200, "jct_p75_s": 300, "jct_p95_s": 400, "jct_p99_s": 400,
		"queued_mean_s": 30, "queued_p50_s": 20, "queued_p75_s": 30, "queued_p95_s": 60, "queued_p99_s": 60,
		"loan_jct_mean_s": 200, "loan_jct_p50_s": 100, "loan_jct_p75_s": 300, "loan_jct_p95_s": 300, "loan_jct_p99_s": 300,
		"loan_queued_mean_s": 35, "loan_queued_p50_s": 10, "loan_queued_p75_s": 60, "loan_queued_p95_s": 60, "loan_queued_p99_s": 60,
		"preemption_pct": 50, "preemptions": 2, "resizes": 3, "lost_gpu_hours": 2.5, "training_usage_pct": 60, "loan_usage_pct": 45,
		"overall_usage_pct": 30, "lent_gpu_hours": 6, "short_gpu_hours": 2, "loans": 1, "lent_nodes": 4, "reclaims": 5,
		"reclaimed_nodes": 7, "taken_nodes": 8, "lost_on_loan": 9, "flexible_pct": 25, "collateral_pct": 15,
		"preempted_of_running_pct": 10, "preempted_of_borrowing_pct": 20,
		"training_price_s": 300, "loan_price_s": 100, "server_price_s": 800, "return_cost_gpu_hours": 1.25,
	}
	runs := []measured{measuredOf(&first), measuredOf(&second)}
	for name, value := range want {
		m, ok := findMetric(name)
		if !ok {
			t.Errorf("no metric %s", name)
		} else if got := m.of(runs); math.Abs(got-value) > 1e-9 {
			t.Errorf("%s: got %v, want %v", name, got, value)
		}
	}
	if all := len(timeMetrics) + len(loanMetrics); all != len(want) {
		t.Errorf("%d metrics, of which %d are tested", all, len(want))
	}
}

func TestMetricsHaveNamesOfTheirOwn(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range metricNames() {
		if seen[name] {
			t.Errorf("two metrics are named %s", name)
		}
		seen[name] = true
	}
}

// The worst gap is that of one round of all runs, and the mean is over all rounds.
func TestGapMetrics(t *testing.T) {
	runs := []measured{{Gaps: []float64{0.5, 0.1}}, {Gaps: []float64{0.3}}}
	worst, _ := findMetric("bound_gap_worst_pct")
	mean, _ := findMetric("bound_gap_mean_pct")
	if w, m := worst.of(runs), mean.of(runs); math.Abs(w-50) > 1e-9 || math.Abs(m-30) > 1e-9 {
		t.Errorf("worst %g %%, mean %g %%, want 50 and 30", w, m)
	}
	if w := worst.of([]measured{{Gaps: []float64{-0.1}}}); w != 0 {
		t.Errorf("worst of rounds above their bound %g %%, want 0", w)
	}
}

// Two runs of jobs of two classes; the longest job moves from type 0 to 1 and back.
func TestClassMetrics(t *testing.T) {
	result := func(jobs ...metrics.JobResult) measured {
		return measuredOf(&run.Run{Result: &metrics.Result{Jobs: jobs}})
	}
	runs := []measured{
		result(metrics.JobResult{Outcome: metrics.Done, Class: "bert", Allocated: 7200, JCT: 9, Intervals: []metrics.Interval{{GPUs: 1}, {GPUs: 2, Type: 1}, {GPUs: 2}}},
			metrics.JobResult{Outcome: metrics.Done, Class: "yolov3", Allocated: 3600, JCT: 1}),
		result(metrics.JobResult{Outcome: metrics.Done, Class: "bert", Allocated: 14400, JCT: 2}, metrics.JobResult{Outcome: metrics.Active, Class: "bert", Allocated: 36000, JCT: 3}),
	}
	for name, want := range map[string]float64{"gpu_hours_bert": 3, "gpu_hours_yolov3": 1, "gpu_hours_cifar10": 0, "longest_moves": 2, "longest_resizes": 1} {
		if m, ok := findMetric(name); !ok || m.of(runs) != want {
			t.Errorf("%s: got %v, want %v", name, m.of(runs), want)
		}
	}
}
