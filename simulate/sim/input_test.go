package sim_test

import (
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/simulate/sim"
	"github.com/oxgang/oxgang/simulate/workload"
)

// TestInput_limits_the_speed: a GPU that could take in one sample a second is fed
// with a third of one by each CPU, and nothing below 10 bytes of memory runs.
func TestInput_limits_the_speed(t *testing.T) {
	app := workload.Steady(1)
	app.Name, app.RestartDelay = "fed", 10*time.Second
	app.Sensitivity = &perf.Sensitivity{CPUs: []perf.CPURate{{CPUs: 3, Rate: 1}}, Input: job.Input{Working: 10}}
	for _, tc := range []struct {
		name string
		then float64 // CPUs from second 40 on
		want time.Duration
	}{
		// 30 s at 1/3, then the other 20 of 30 samples.
		{"goes on", 1, 10*time.Second + 90*time.Second},
		{"gets all it can use, without a restart", 3, 40*time.Second + 20*time.Second},
		{"more helps no further", 12, 40*time.Second + 20*time.Second},
		{"CPUs that nobody counts", 0, 40*time.Second + 20*time.Second},
	} {
		w := world1(t, app)
		run := func(cpus float64) {
			a := cluster.Allocation{Configuration: cluster.Configuration{Nodes: 1, GPUs: 1, GPUType: "t4"}, CPUs: cpus, Memory: 10}
			at := cluster.Placement{{Node: "n0", Resources: cluster.Resources{GPUs: 1, CPUs: cpus, Memory: 10}}}
			if err := w.Do(t.Context(), []scheduler.Action{scheduler.Run{Job: "a", Allocation: a, Placement: at}}); err != nil {
				t.Fatal(err)
			}
		}
		drain(t, w, 0)
		run(1)
		drain(t, w, 40*time.Second)
		run(tc.then)
		if got := drain(t, w, time.Hour); got != tc.want {
			t.Errorf("%s: done after %v, want %v", tc.name, got, tc.want)
		}
	}
}

// world1 is a world of one t4 and one job of 30 samples.
func world1(t *testing.T, app *workload.Application) *sim.World {
	t.Helper()
	c, err := cluster.New([]cluster.Node{{ID: "n0", GPUType: "t4", Capacity: cluster.Resources{GPUs: 1, CPUs: 12, Memory: 10}}})
	if err != nil {
		t.Fatal(err)
	}
	a := workload.Arrival{Application: "fed", Spec: job.Spec{ID: "a", GPUs: 1, Target: 30}}
	catalog := workload.Catalog{"fed": app}
	if err := catalog.Complete(&a); err != nil {
		t.Fatal(err)
	}
	w, err := sim.New(c, catalog, []workload.Arrival{a}, sim.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// drain lets events happen up to a time, and returns when the job was done.
func drain(t *testing.T, w *sim.World, until time.Duration) (done time.Duration) {
	t.Helper()
	for {
		ev, err := w.Next(t.Context(), sim.Epoch.Add(until))
		if err != nil {
			return done // no more to come
		}
		switch ev := ev.(type) {
		case nil:
			return done
		case scheduler.Exited:
			if ev.Outcome != scheduler.Done {
				t.Fatalf("job ended: %+v", ev)
			}
			done = w.Now().Sub(sim.Epoch)
		}
	}
}
