package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/scheduler/metrics"
)

// borrowing are two runs on a cluster that can borrow nodes, of which the first did.
func borrowing() []Run {
	runs := small()
	r := runs[0].Result
	r.Types = []cluster.GPUType{"v100", "t4"}
	r.Summary.MeanQueued, r.Summary.P50Queued, r.Summary.P99Queued = 900, 180, 1800
	r.Summary.Preemptions, r.Summary.Resizes, r.Summary.LostHours = 1, 73, 0.25
	r.Summary.Loans = &metrics.LoanSummary{
		Training: 0.75, OnLoan: 0.92, Overall: 0.65, LentHours: 40, BusyHours: 36.8, ShortHours: 1.5,
		Loans: 6, Nodes: 12, Reclaims: 8, Reclaimed: 10, Preempted: 3, Taken: 2, Lost: 1,
		Flexible: 0.535, OfRunning: 0.125, OfBorrowing: 0.25, Damage: 0.3,
		Priced: 4, TrainingPrice: 900, LoanPrice: 250, ServerPrice: 1000, ReturnCost: 1.25,
	}
	r.Series = metrics.Series{
		Time: []float64{0, 60}, Running: []float64{0, 0}, Waiting: []float64{0, 0},
		Busy: [][]float64{{8, 6}, {0, 3}}, Capacity: [][]float64{{8, 8}, {0, 4}},
		Loans: &metrics.LoanSeries{Lent: []float64{0, 4}, Busy: []float64{0, 3}, Wanted: []float64{0, 2}, Load: []float64{4, 13}, Pool: []float64{16, 16}, TrainingPrice: []float64{30, 900}, LoanPrice: []float64{0, 250}},
	}
	r = runs[1].Result
	r.Types = []cluster.GPUType{"v100"}
	r.Summary.Loans = &metrics.LoanSummary{Training: 0.5, Overall: 0.4}
	r.Series = metrics.Series{
		Time: []float64{0}, Running: []float64{0}, Waiting: []float64{0}, Busy: [][]float64{{4}}, Capacity: [][]float64{{8}},
		Loans: &metrics.LoanSeries{Lent: []float64{0}, Busy: []float64{0}, Wanted: []float64{0}, Load: []float64{8}, Pool: []float64{16}},
	}
	return runs
}

func TestTable_of_loans(t *testing.T) {
	want := "" +
		"POLICY       JOBS  DONE  AVG JCT (h)  P99 JCT (h)  AVG QUEUED (h)  GPU-H/JOB  RESTARTS  UTIL (%)  PREEMPTION (%)  TRAINING (%)  ON LOAN (%)  OVERALL (%)  FLEXIBLE (%)  COLLATERAL (%)\n" +
		"sia             2     2        0.500         1.00           0.250       1.50      0.50      75.0           50.00          75.0         92.0         65.0          53.5            30.0\n" +
		"a long name     2     0            -            -               -          -         -       0.0            0.00          50.0            -         40.0             -               -\n"
	if diff := cmp.Diff(want, table(t, borrowing(), Text)); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
	header, _, _ := strings.Cut(table(t, borrowing(), CSV), "\n")
	for _, c := range loanColumns {
		if !slices.Contains(strings.Split(header, ","), c.key) {
			t.Errorf("CSV header %s without %s", header, c.key)
		}
	}
}

func TestColumns_of_loans(t *testing.T) {
	want := map[string][2]string{
		"queued_mean_h": {"0.250", "-"}, "queued_p50_h": {"0.050", "-"}, "queued_p99_h": {"0.50", "-"},
		"preemption_pct": {"50.00", "0.00"}, "resizes": {"73", "0"}, "lost_gpu_hours": {"0.2", "0.0"},
		"training_usage_pct": {"75.0", "50.0"}, "loan_usage_pct": {"92.0", "-"}, "overall_usage_pct": {"65.0", "40.0"},
		"lent_gpu_hours": {"40.0", "0.0"}, "lent_nodes": {"12", "0"}, "loans": {"6", "0"}, "reclaims": {"8", "0"}, "reclaimed_nodes": {"10", "0"},
		"flexible_pct": {"53.5", "-"}, "collateral_pct": {"30.0", "-"}, "preempted_of_running_pct": {"12.50", "-"},
		"preempted_of_borrowing_pct": {"25.00", "-"}, "taken_nodes": {"2", "0"}, "lost_on_loan": {"1", "0"}, "short_gpu_hours": {"1.5", "0.0"},
		"training_price_s": {"900", "-"}, "loan_price_s": {"250", "-"}, "server_price_s": {"1000", "-"}, "return_cost_gpu_hours": {"1.25", "-"},
	}
	runs := borrowing()
	got := map[string][2]string{}
	for _, c := range columnsOf(runs) {
		if _, ok := want[c.key]; ok {
			got[c.key] = [2]string{c.cell(&runs[0]), c.cell(&runs[1])}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
}

func TestColumns_without_loans(t *testing.T) {
	columnsOf(borrowing()) // leaves them as they are
	for _, c := range columnsOf(small()) {
		if slices.ContainsFunc(loanColumns, func(l column) bool { return l.key == c.key }) || c.key == "queued_mean_h" && c.shown != wide {
			t.Errorf("column %s is shown of runs without loans", c.key)
		}
	}
}

func TestLoans(t *testing.T) {
	runs := append(borrowing(), small()[0])
	runs[2].Name = "alone"
	var rows [][]float64
	for _, s := range loans(runs, unlimited).Columns {
		rows = append(rows, s.Values)
	}
	want := [][]float64{
		{0, 0, 1}, {0, 60, 0}, {0, 4, 0}, {0, 3, 0}, {0, 2, 0}, {4, 13, 8}, // policy, time, lent, busy, wanted, the owner's
		{12.0 / 24, 21.0 / 24, 12.0 / 24}, // of 8 GPUs and the owner's 16, of which it has 12 once
		{30, 900, 0}, {0, 250, 0},         // prices; the second run has none
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
	for _, c := range []struct {
		runs []Run
		want bool
	}{{runs, true}, {small(), false}} {
		page, all := html(t, Input{Runs: c.runs}), files(t, c.runs)
		if _, csv := all["loans.csv"]; strings.Contains(page, `id="loans"`) != c.want || csv != c.want {
			t.Errorf("page and files with GPUs on loan: got %t and %t, want both %t", strings.Contains(page, `id="loans"`), csv, c.want)
		}
	}
}
