package history

import (
	"strings"
	"testing"

	"github.com/oxgang/oxgang/scheduler/metrics"
)

// TestBySize: a row has the delays against the own policy and the longest wait of the largest jobs, in the table and by size in JSON.
func TestBySize(t *testing.T) {
	jobs := func(jct, wait float64) []metrics.JobTimes {
		return []metrics.JobTimes{{ID: "large", GPUs: 6, JCT: jct, Wait: wait, Done: true}, {ID: "small", GPUs: 1, JCT: 60, Done: true}}
	}
	was, would := jobs(3600, 60), jobs(7200, 3660)
	d := metrics.NewDelays("your own policy", 8)
	d.Add(1, was, would, 8)
	a := Answer{
		Sentence: "x.", Own: "fifo", Trust: &metrics.Trust{Trusted: true},
		Rows: []Row{{Name: asItWas, waits: metrics.WaitsBySize(8, was)}, {Name: "oxgang", waits: metrics.WaitsBySize(8, would), delays: d}},
	}
	a.bySize()
	r := &a.Rows[1]
	if *r.Later != 1 || *r.Compared != 2 || *r.Worst != 3600 || r.WorstJob != "large" || *r.MaxWait != 3660 || *a.Rows[0].MaxWait != 60 || a.Rows[0].Later != nil {
		t.Errorf("rows %+v", a.Rows)
	}
	if s := a.Sizes; len(s) != 2 || s[1].Delays != d || s[0].Delays != nil || s[1].Waits[3].Longest != 3660 {
		t.Errorf("sizes %+v", a.Sizes)
	}
	var table strings.Builder
	if err := a.Table(&table); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"  50.0       1h01m\n", "later than under your own policy\n", "jobs of more than 4 GPUs\n"} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("%q is missing in\n%s", want, table.String())
		}
	}
}
