package history

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/simulate/trace"
	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/workload"
)

// seen is a job that was submitted in an hour of 2026, waited and ran for so many minutes.
func seen(hour, wait, run int) *parse.Observed {
	o := &parse.Observed{Submitted: time.Date(2026, 1, 1, hour, 0, 0, 0, time.UTC)}
	o.Started = o.Submitted.Add(time.Duration(wait) * time.Minute)
	if run > 0 {
		o.Ended = o.Started.Add(time.Duration(run) * time.Minute)
	}
	return o
}

// simulated is a job that waited and ran for so many minutes.
func simulated(id job.ID, wait, run float64) metrics.JobResult {
	r := metrics.JobResult{ID: id, FirstStarted: 60 * wait, Finished: 60 * (wait + run), JCT: 60 * (wait + run)}
	if run == 0 {
		r.Finished = -1
	}
	return r
}

func TestCompare(t *testing.T) {
	jobs := map[job.ID]*parse.Observed{"a": seen(1, 10, 60), "b": seen(2, 30, 60), "c": seen(26, 0, 10), "runs": seen(3, 5, 0), "not simulated to its end": seen(3, 5, 5)}
	runs := []*metrics.Result{
		{Jobs: []metrics.JobResult{simulated("a", 0, 60), simulated("b", 10, 60), simulated("c", 0, 10), simulated("runs", 0, 5), simulated("not simulated to its end", 0, 5)}},
		{Jobs: []metrics.JobResult{simulated("a", 12, 60), simulated("b", 30, 60), simulated("c", 4, 10), simulated("runs", 0, 5), simulated("not simulated to its end", 0, 0)}},
	}
	var b strings.Builder
	if err := Compare(jobs, "fifo", []string{"sia", "fifo"}, runs...).Write(&b); err != nil {
		t.Fatal(err)
	}
	const want = `
SINCE SUBMISSION  JOBS  MEAN WAIT  P50 WAIT  P90 WAIT  MEAN JCT  P90 JCT
observed          3     13m        10m       30m       56m       1h30m
sia               3     3m         0s        10m       46m       1h10m
fifo              3     15m        12m       30m       58m       1h30m
jobs not compared because they still ran, or did not end in a simulation: 2
fifo simulated: waits are 2m longer than observed on average; half are within 2m, 9 of 10 within 4m

DAY (UTC)   JOBS  MEAN JCT  REGRET AGAINST sia  fifo
2026-01-01  2     1h20m     +15m                -1m
2026-01-02  1     10m       +0s                 -4m
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("comparison (-want +got):\n%s", diff)
	}
}

func TestCompareNothing(t *testing.T) {
	var b strings.Builder
	runs := []*metrics.Result{{Jobs: []metrics.JobResult{simulated("a", 0, 1)}}}
	err := Compare(map[job.ID]*parse.Observed{"a": seen(1, 1, 0)}, "fifo", []string{"fifo"}, runs...).Write(&b)
	if err != nil || !strings.Contains(b.String(), "nothing to compare") {
		t.Errorf("got %q, %v", b.String(), err)
	}
}

func TestParseSince(t *testing.T) {
	tests := []struct {
		text string
		want time.Duration
		ok   bool
	}{
		{"", 0, true},
		{"30d", 720 * time.Hour, true},
		{"1.5d", 36 * time.Hour, true},
		{"90m", 90 * time.Minute, true},
		{"0d", 0, false},
		{"-1h", 0, false},
		{"nand", 0, false},
		{"infd", 0, false},
		{"1e9d", 0, false},
		{"36501d", 0, false},
		{"month", 0, false},
	}
	for _, tc := range tests {
		if got, err := ParseSince(tc.text); got != tc.want || (err == nil) != tc.ok {
			t.Errorf("ParseSince(%q) = %v, %v; want %v, no error: %v", tc.text, got, err, tc.want, tc.ok)
		}
	}
}

// TestHistory_write: what a start costs is a part of the running time and of the time limit; a job that
// ran for less runs for a second at least, and one of no limit has none.
func TestHistory_write(t *testing.T) {
	h := History{Recorded: &trace.History{}}
	for _, j := range []struct{ runs, limit time.Duration }{{10 * time.Minute, time.Hour}, {20 * time.Second, 10 * time.Second}, {40 * time.Second, 0}} {
		id := job.ID(rune('a' + len(h.Recorded.Jobs)))
		h.Recorded.Jobs = append(h.Recorded.Jobs, parse.Observed{Arrival: workload.Arrival{
			At: time.Hour, Duration: j.runs, Spec: job.Spec{ID: id, GPUs: 1, Target: j.limit.Seconds()},
		}})
	}
	var told strings.Builder
	if err := h.write(0, 30*time.Second, &told); err != nil {
		t.Fatal(err)
	}
	const want = `{"id":"a","duration_s":570,"gpus":1,"target_samples":3570}
{"id":"b","duration_s":1,"gpus":1,"target_samples":1}
{"id":"c","duration_s":10,"gpus":1}
`
	if diff := cmp.Diff(want, string(h.trace)); diff != "" || h.short != 1 || !strings.Contains(told.String(), "shorter than the cost of a start, simulated longer: 1") {
		t.Errorf("trace (-want +got), %d short, told %q:\n%s", h.short, told.String(), diff)
	}
}

// TestBaseline: a history with quotas of Kueue is replayed under Kueue.
func TestBaseline(t *testing.T) {
	for want, h := range map[string]*trace.History{
		"kueue": {Format: "kubernetes", Quotas: make([]trace.Quota, 1)}, "easy": {Format: "kubernetes"},
		"multifactor": {Format: "slurm"}, "fifo": {Format: trace.PhillyFormat},
	} {
		if got := baseline(h); got != want {
			t.Errorf("%s: %s, want %s", h.Format, got, want)
		}
	}
}
