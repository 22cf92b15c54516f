package history

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/trace"
	"github.com/oxgang/oxgang/simulate/trace/parse"
)

// watched returns two jobs of 4 GPUs as they were observed, a job that runs, and a simulation in which
// jobs wait and run for so many minutes.
func watched(wait, run float64) (map[job.ID]*parse.Observed, *metrics.Result) {
	jobs := map[job.ID]*parse.Observed{"a": seen(0, 10, 100), "b": seen(1, 30, 100), "runs": seen(1, 5, 0)}
	for _, o := range jobs {
		o.Arrival.Spec.GPUs = 4
	}
	r := &metrics.Result{Jobs: []metrics.JobResult{simulated("a", wait, run), simulated("b", wait+20, run), simulated("runs", 0, 5)}}
	for i := range r.Jobs {
		j := &r.Jobs[i]
		j.Allocated, j.Profiling, j.Idle = 4*60*run+7+5, 7, 5 // profiled before, idle from its end to that of its round
		j.Submitted = float64(i%2) * 3600
		j.FirstStarted, j.Finished = j.FirstStarted+j.Submitted, j.Finished+j.Submitted
	}
	return jobs, r
}

func eight(t *testing.T) *cluster.Cluster {
	t.Helper()
	c, err := cluster.New([]cluster.Node{{ID: "n", GPUType: "t4", Capacity: cluster.Resources{GPUs: 8}}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestJudge: times are means over jobs that ended in both; utilisation is over the time from the first
// submission to the last end, without what is held for profiling and until rounds end; jobs that did not end in the simulation are an error.
func TestJudge(t *testing.T) {
	jobs, run := watched(10, 100)
	if got := judge(jobs, run, eight(t), 0, 60, nil); !got.Trusted || got.JCT != 0 || got.Wait != 0 || math.Abs(got.Utilisation) > 1e-9 {
		t.Errorf("exact: %+v", got)
	}
	jobs, run = watched(40, 100) // the last ends 30 minutes later, after 220
	want := metrics.Trust{JCT: 150.0/120 - 1, Wait: 1.5, Utilisation: 190.0/220 - 1}
	if got := judge(jobs, run, eight(t), 0, 60, nil); got.Trusted || math.Abs(got.JCT-want.JCT) > 1e-9 || math.Abs(got.Wait-want.Wait) > 1e-9 || math.Abs(got.Utilisation-want.Utilisation) > 1e-9 {
		t.Errorf("waits of 30 minutes more: %+v, want %+v", got, want)
	}
	jobs, run = watched(10, 100)
	run.Jobs[1].Finished = -1
	if got := judge(jobs, run, eight(t), 0, 60, nil); got.Trusted {
		t.Errorf("half of the jobs did not end: %+v, want it not trusted", got)
	}
}

// TestCauses: what was left out or invented is named, but for what changes nothing.
func TestCauses(t *testing.T) {
	h := History{since: "1d", earlier: 3, short: 5, guessed: true, Baseline: "easy", Recorded: &trace.History{Format: "kubernetes", Cluster: "t4:1x8"}, notes: parse.Summary{Bad: 2, Notes: []parse.Note{{Text: parse.DropNoGPUs, Count: 9}, {Text: "jobs that failed", Count: 4}}}}
	want := []string{
		"jobs that failed: 4", "bad rows skipped: 2", "jobs submitted before the last 1d, ignored although they may have been running: 3",
		"jobs shorter than the cost of a start, simulated longer: 5", "the cluster is a guess: the GPUs in use at the same time",
		"the simulated cluster differs from the observed one",
		"the cluster's scheduler is not exactly easy", "a dump has no deleted jobs and no removed nodes",
	}
	c := config.Default()
	if err := c.Set("cluster", "t4:2x8", "test"); err != nil {
		t.Fatal(err)
	}
	if got := h.Causes(c); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	at := time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)
	for i := range 3 { // the third starts when the first ends
		o := parse.Observed{Submitted: at, Started: at.Add(time.Duration(i/2) * time.Hour), Ended: at.Add(time.Duration(1+i) * time.Hour)}
		o.Arrival.Spec.GPUs = 9
		h.Recorded.Jobs = append(h.Recorded.Jobs, o)
	}
	if got, want := h.Causes(c)[0], "the jobs of the log held up to 18 GPUs at the same time, and the simulated cluster has 16"; got != want {
		t.Errorf("18 GPUs in use at once of 16: %q, want %q", got, want)
	}
}
