package simulate

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/history"
	"github.com/oxgang/oxgang/simulate/report"
	"github.com/oxgang/oxgang/simulate/run"
	"github.com/oxgang/oxgang/simulate/trace"
	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/workload"
)

// ended returns a task of a policy that took so many hours for its job; 0: it failed.
func ended(policy string, seed uint64, hours float64, aside bool) *task {
	c := config.Default()
	c.Sim.Seed = seed
	t := &task{name: policy, policy: policy, config: c, aside: aside}
	if hours == 0 {
		t.name, t.failed = policy+" (seed 2)", errors.New("no nodes")
		return t
	}
	t.run = &run.Run{Result: &metrics.Result{
		Summary: metrics.Summary{Jobs: 1, Done: 1, MeanJCT: 3600 * hours},
		Jobs:    []metrics.JobResult{{ID: "a", Outcome: metrics.Done, JCT: 3600 * hours}},
	}}
	t.judge()
	return t
}

// TestRows: without --seeds a row has the means of its policy over all seeds; a policy that failed under one of them has none,
// as its mean would be over other seeds, and the verdict leaves it out.
func TestRows(t *testing.T) {
	s := &simulation{config: config.Default(), seeds: 2}
	s.config.Policies = []string{"sia", "fifo", "srtf"}
	tasks := []*task{
		ended("sia", 1, 1, false), ended("fifo", 1, 2, false), ended("srtf", 1, 1, false),
		ended("sia", 2, 3, true), ended("fifo", 2, 6.1, true), ended("srtf", 2, 0, true),
	}
	rows := s.rows(tasks, false)
	if len(rows) != 3 {
		t.Fatalf("%d rows, want one for each policy", len(rows))
	}
	if got := report.Measures(&rows[0])["jct_mean_h"]; got != 2 {
		t.Errorf("sia has a mean JCT of %v h, want that of both seeds, 2", got)
	}
	if rows[2].Result != nil || rows[2].Error != "srtf (seed 2): no nodes" {
		t.Errorf("srtf failed under seed 2, and its row is %+v", rows[2])
	}
	if v := rows[0].Verdict; v.Best["jct_mean_h"] != "sia" || !strings.Contains(v.Text(), "srtf left out") {
		t.Errorf("verdict %q", v.Text())
	}
	if tasks[3].run.Result != nil || tasks[0].run.Result == nil {
		t.Error("results are kept of runs that have no row, or not of those that have one")
	}
	tasks[4].run.Unfinished = true
	if rows := s.rows(tasks, false); rows[1].Name != "fifo"+unfinished {
		t.Errorf("fifo is not finished under seed 2, and its row is %q", rows[1].Name)
	}
	tasks[4].run = nil // it was not begun
	if rows := s.rows(tasks, true); rows[1].Name != "fifo" || report.Measures(&rows[1])["jct_mean_h"] != 2 || rows[1].Verdict.Best["jct_mean_h"] != "" {
		t.Errorf("interrupted, and the row of fifo is %+v, want that of the first seed, and that none is best", rows[1])
	}
}

// TestRows_of_each_seed: with --seeds each run has a row of its own.
func TestRows_of_each_seed(t *testing.T) {
	s := &simulation{config: config.Default(), seeds: 2, each: true}
	s.config.Policies = []string{"sia", "fifo"}
	rows := s.rows([]*task{ended("sia", 1, 1, false), ended("fifo", 1, 2, false), ended("sia", 2, 3, false), ended("fifo", 2, 6.1, false)}, false)
	if len(rows) != 4 || report.Measures(&rows[2])["jct_mean_h"] != 3 || rows[3].Verdict.Best["jct_mean_h"] != "sia" {
		t.Errorf("rows %+v", rows)
	}
}

// TestChooseSeeds: several seeds are worth their time where policies are compared and seeds change the jobs.
func TestChooseSeeds(t *testing.T) {
	for _, test := range []struct {
		policies []string
		trace    string
		each     bool
		given    int
		want     int
	}{
		{[]string{"sia", "fifo"}, "", false, 0, compared},
		{[]string{"sia"}, "", false, 0, 1},
		{[]string{"sia", "sia"}, "", false, 0, 1},
		{[]string{"sia", "fifo"}, "w.csv", false, 0, 1},
		{[]string{"sia", "fifo"}, "", true, 1, 1},
		{[]string{"sia"}, "w.csv", true, 7, 7},
	} {
		s := &simulation{config: config.Default(), seeds: test.given, each: test.each}
		s.config.Policies, s.config.Trace = test.policies, test.trace
		if s.chooseSeeds(); s.seeds != test.want {
			t.Errorf("%+v: %d seeds", test, s.seeds)
		}
	}
}

// TestSimulation_fidelity: all simulations of history are marked that is not simulated well, and none of
// history that is; a failed one has no figures to mark.
func TestSimulation_fidelity(t *testing.T) {
	nodes, err := cluster.New([]cluster.Node{{ID: "n", GPUType: "t4", Capacity: cluster.Resources{GPUs: 8}}})
	if err != nil {
		t.Fatal(err)
	}
	came := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	o := parse.Observed{Submitted: came, Started: came.Add(10 * time.Minute), Ended: came.Add(110 * time.Minute)}
	o.Arrival.Spec.ID, o.Arrival.Spec.GPUs = "a", 4
	for wait, stamp := range map[float64]string{600: "", 2400: metrics.Stamp} {
		result := &metrics.Result{Jobs: []metrics.JobResult{{ID: "a", FirstStarted: wait, Finished: wait + 6000, JCT: wait + 6000, Allocated: 24000}}}
		s := &simulation{config: config.Default(), past: historyFlags{baseline: "fifo", History: &history.History{Baseline: "fifo", Recorded: &trace.History{Jobs: []parse.Observed{o}}}}}
		in := &run.Inputs{Cluster: nodes, Arrivals: []workload.Arrival{o.Arrival}}
		tasks := []*task{{policy: "sia", run: &run.Run{}, Inputs: in}, {policy: "lyra"}, {policy: "fifo", run: &run.Run{}, Inputs: in}}
		runs := []report.Run{{Name: "sia", Result: &metrics.Result{}}, {Name: "lyra", Error: "no"}, {Name: "fifo", Result: result}}
		got := s.fidelity(runs, tasks)
		if got.Trusted != (stamp == "") || runs[0].Trust != got || runs[0].Name != "sia"+stamp || runs[1].Name != "lyra" || runs[2].Name != "fifo"+stamp {
			t.Errorf("wait %v: %+v; names %q, %q, %q", wait, got, runs[0].Name, runs[1].Name, runs[2].Name)
		}
		tasks[2].run = nil
		if got := s.fidelity(runs, tasks); got.Trusted || !strings.Contains(got.Verdict(), "fifo was not simulated") {
			t.Errorf("without fifo: %+v", got)
		}
	}
	none := &simulation{config: config.Default()}
	if got := none.fidelity([]report.Run{{Name: "sia"}}, []*task{{policy: "sia"}}); got != nil {
		t.Errorf("no history: %+v, want none", got)
	}
}
