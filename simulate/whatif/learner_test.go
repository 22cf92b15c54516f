package whatif_test

import (
	"math"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/simulate/sim"
	"github.com/oxgang/oxgang/simulate/whatif"
)

// TestLearner_measures_starts: from the decision to the first step, which a report that
// covers an interval has behind it.
func TestLearner_measures_starts(t *testing.T) {
	l, at := newLearner(t), func(s int) time.Time { return sim.Epoch.Add(time.Duration(s) * time.Second) }
	on := cluster.Configuration{Nodes: 1, GPUs: 2, GPUType: "a100"}
	run := scheduler.Run{Job: "x", Allocation: cluster.Allocation{Configuration: on}, Placement: cluster.Placement{{Node: "a100-0", Resources: cluster.Resources{GPUs: 2}}}, Batch: job.BatchSize{Local: 4}}
	l.Event(at(0), scheduler.Submitted{Spec: &job.Spec{ID: "x", Batch: job.BatchLimits{Init: 8, Max: 8}}})
	l.Round(&policy.Snapshot{Now: at(60)}, nil, []scheduler.Action{run})
	l.Event(at(100), report(on, 30, 0)) // after 10 s
	run.Batch = job.BatchSize{Local: 2}
	l.Round(&policy.Snapshot{Now: at(120)}, nil, []scheduler.Action{run}) // in place: no start
	l.Event(at(180), report(on, 30, 100))
	l.Event(at(200), scheduler.Exited{Job: "x", Outcome: scheduler.Lost})
	l.Round(&policy.Snapshot{Now: at(240)}, nil, []scheduler.Action{run})
	l.Event(at(270), report(on, 0, 100)) // after 30 s
	want := whatif.Measured{Delay: 20 * time.Second, Delays: 2, Asked: run.Batch}
	got := l.Measured()["x"]
	if got.Pace, got.Model = 0, nil; got.Delay != want.Delay || got.Delays != want.Delays || got.Asked != want.Asked {
		t.Errorf("got %+v, want %+v", got, want)
	}
	l.Event(at(300), scheduler.Exited{Job: "x", Outcome: scheduler.Done})
	if len(l.Measured()) != 0 {
		t.Error("a job that has ended is still known")
	}
}

func newLearner(t *testing.T) *whatif.Learner {
	r := mixed(t, 0)
	r.cluster = nodes(t, 4, "a100")
	return whatif.NewLearner(r.estimate())
}

// report is of steps of 8 samples in a second.
func report(on cluster.Configuration, interval int, progress float64) scheduler.Reported {
	return scheduler.Reported{Report: job.Report{
		Job: "x", Configuration: on, Interval: time.Duration(interval) * time.Second, Batch: job.BatchSize{Local: 4},
		StepTime: time.Second, Progress: progress,
	}}
}

// TestLearner_measures_pace: a job that makes half of what its steps say comes on at half the pace.
func TestLearner_measures_pace(t *testing.T) {
	l := newLearner(t)
	on := cluster.Configuration{Nodes: 1, GPUs: 2, GPUType: "a100"}
	l.Event(sim.Epoch, scheduler.Submitted{Spec: &job.Spec{ID: "x", Batch: job.BatchLimits{Init: 8, Max: 8}}})
	progress := 0.0
	for i := range 200 {
		l.Event(sim.Epoch.Add(time.Duration(30*i)*time.Second), report(on, 30, progress))
		progress += 30 * 4 // of 8 a second
	}
	if got := l.Measured()["x"].Pace; math.Abs(got-0.505) > 0.01 { // 60 s are taken to have been as reported
		t.Errorf("pace %v, want 0.505", got)
	}
	if got := l.Between(sim.Epoch.Add(time.Hour)); got != 0 {
		t.Errorf("%v between submissions after one, want 0", got)
	}
	l.Event(sim.Epoch.Add(30*time.Minute), scheduler.Submitted{Spec: &job.Spec{ID: "y"}})
	if got := l.Between(sim.Epoch.Add(time.Hour)); got != time.Hour {
		t.Errorf("%v between submissions as long after the last one as it came after the first, want 1h", got)
	}
}
