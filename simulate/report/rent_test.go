package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/scheduler/metrics"
)

func renting() []Run {
	runs := small()
	r := runs[0].Result
	r.Types = []cluster.GPUType{"t4", "a100"}
	r.Summary.P95JCT, r.Summary.MeanGPUs = 3240, 5.5
	r.Summary.Rent = &metrics.Rent{
		Hours: 8, Starting: 1, Idle: 2, Leaving: 0.5, Money: 4, LeavingMoney: 0.25, MeanGPUs: 4, MostGPUs: 12, WorstWeek: 0.75,
	}
	r.Series = metrics.Series{
		Time: []float64{0, 60}, Running: []float64{0, 0}, Waiting: []float64{0, 0},
		Busy: [][]float64{{0, 0}, {0, 0}}, Capacity: [][]float64{{4, 4}, {0, 8}}, Starting: [][]float64{{0, 4}, {8, 0}}, Spending: []float64{24, 26},
	}
	runs[1].Result.Types = []cluster.GPUType{"t4"}
	runs[1].Result.Series = metrics.Series{Time: []float64{0}, Running: []float64{0}, Waiting: []float64{0}, Busy: [][]float64{{0}}, Capacity: [][]float64{{16}}}
	return runs
}

func TestColumns_of_rent(t *testing.T) {
	want := map[string]string{
		"jct_p95_h": "0.90", "gpus_mean": "5.5", "paid_gpu_hours": "8.0", "paid_gpus_mean": "4.0", "paid_gpus_max": "12", "paid_starting_pct": "12.5",
		"paid_idle_pct": "25.0", "leaving_gpu_hours": "0.5", "spent": "4.00", "spent_leaving": "0.25", "spent_worst_week_per_h": "0.75",
	}
	runs := renting()
	got, none := map[string]string{}, []string{}
	for _, c := range columnsOf(runs) {
		if _, ok := want[c.key]; !ok {
			continue
		}
		got[c.key] = c.cell(&runs[0])
		if c.cell(&runs[1]) == "-" {
			none = append(none, c.key)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
	if len(none) != len(want)-1 { // GPUs there are known of every run
		t.Errorf("of a run that rents nothing, %v are not known", none)
	}
}

func TestTable_shows_rent_where_something_was_rented(t *testing.T) {
	runs := renting()
	if text := table(t, runs, Wide); !strings.Contains(text, "PAID GPU-H") || !strings.Contains(text, "P95 JCT (h)") {
		t.Errorf("wide table without what is paid:\n%s", text)
	}
	if text := table(t, small(), Wide); strings.Contains(text, "PAID") || strings.Contains(text, "SPENT") {
		t.Errorf("wide table of runs that rented nothing:\n%s", text)
	}
	if text := table(t, runs, CSV); !strings.Contains(text, ",spent,spent_leaving,") {
		t.Errorf("CSV without what is paid:\n%s", text)
	}
}

func TestPaid(t *testing.T) {
	runs := renting()
	var rows [][]float64
	for _, s := range paid(runs, unlimited).Columns {
		rows = append(rows, s.Values)
	}
	want := [][]float64{{0, 0, 1}, {0, 60, 0}, {12, 16, 16}, {8, 4, 0}, {24, 26, 0}} // policy, time, paid, starting, spending
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
	for _, c := range []struct {
		runs []Run
		want bool
	}{{runs, true}, {small(), false}} {
		page, all := html(t, Input{Runs: c.runs}), files(t, c.runs)
		if _, csv := all["paid.csv"]; strings.Contains(page, `id="paid"`) != c.want || csv != c.want {
			t.Errorf("page and files with GPUs over time: got %t and %t, want both %t", strings.Contains(page, `id="paid"`), csv, c.want)
		}
	}
}
