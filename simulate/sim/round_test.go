package sim_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy/placement/submesh"
	"github.com/oxgang/oxgang/policy/queue"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/simulate/sim"
	"github.com/oxgang/oxgang/simulate/workload"
)

// TestWorld_round_rules runs two jobs one after the other on four GPUs, planned
// for every five minutes: the first takes 400 s, the second 200 s, and the
// restart 30 s of each unless a rule says otherwise.
func TestWorld_round_rules(t *testing.T) {
	none, minute := time.Duration(0), time.Minute
	for _, tc := range []struct {
		name  string
		first time.Duration // plan
		set   func(*sim.Options)
		want  []float64 // ends
	}{
		{"as it is", 0, func(*sim.Options) {}, []float64{300 + 430, 900 + 230}},
		{"restarts are free", 0, func(o *sim.Options) { o.Restart = &none }, []float64{300 + 400, 900 + 200}},
		{"restarts take a minute", 0, func(o *sim.Options) { o.Restart = &minute }, []float64{300 + 460, 900 + 260}},
		{"exit on round", 0, func(o *sim.Options) { o.Public.ExitOnRound = true }, []float64{900, 1200}},
		{"the first round at once", time.Second, func(o *sim.Options) { o.Public.ExitOnRound = true }, []float64{601, 901}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o, so := sim.DefaultOptions(), scheduler.DefaultOptions()
			tc.set(&o)
			so.Round, so.First, so.Profile = 5*time.Minute, tc.first, false
			if diff := cmp.Diff(tc.want, ends(t, o, so, lasting(400*time.Second), named("k", 200*time.Second))); diff != "" {
				t.Errorf("ends (-want +got):\n%s", diff)
			}
		})
	}
}

// TestWorld_whole_iterations has iterations of 140 s: a round of 300 s holds two
// whole ones.
func TestWorld_whole_iterations(t *testing.T) {
	none := time.Duration(0)
	o, so := sim.DefaultOptions(), scheduler.DefaultOptions()
	o.Restart, o.Public.ExitOnRound = &none, true
	so.Round, so.Profile = 5*time.Minute, false
	for _, tc := range []struct {
		iterations float64
		whole      bool
		want       float64
	}{
		{5, false, 300 + 900},
		{7, false, 300 + 1200},
		{9, false, 300 + 1500},
		{5, true, 300 + 900},
		{6, true, 300 + 900},
		{8, true, 300 + 1200},
		{9, true, 300 + 1500},
	} {
		a := workload.Arrival{Application: "slow", Spec: job.Spec{ID: "j", GPUs: 4, Target: 4 * tc.iterations}}
		o.Public.WholeIterations = tc.whole
		if got := ends(t, o, so, a); got[0] != tc.want {
			t.Errorf("%g iterations, whole ones %v: ended after %g s, want %g", tc.iterations, tc.whole, got[0], tc.want)
		}
	}
}

// A job that is done, and whose GPU fails before its round ends, stays done: it ends with
// the first round in which it has GPUs again.
func TestWorld_a_job_that_is_done_is_not_lost(t *testing.T) {
	none, o := time.Duration(0), sim.DefaultOptions()
	o.Restart, o.Public.ExitOnRound = &none, true
	o.Checkpoint, o.Faults.GPUMTBF = 1000*time.Hour, 1000*time.Hour
	w, err := sim.New(fours(t, "n"), workload.Catalog{}, []workload.Arrival{lasting(time.Minute)}, o)
	if err != nil {
		t.Fatal(err)
	}
	share := cluster.Resources{GPUs: 4}
	run := scheduler.Run{Job: "j", Placement: cluster.Placement{{Node: "n", Resources: share}}}
	run.Allocation.Configuration = cluster.Configuration{Nodes: 1, GPUs: 4, GPUType: w.Cluster().Types()[0].Type}
	for _, want := range []string{"Submitted", "Reported", "Exited lost", "Reported", "Exited done"} {
		round := 1e6 * time.Hour
		if want == "Exited done" {
			round = time.Second
		}
		ev, err := w.Next(t.Context(), w.Now().Add(round))
		got := strings.TrimPrefix(fmt.Sprintf("%T", ev), "scheduler.")
		if e, ok := ev.(scheduler.Exited); ok {
			got += " " + e.Outcome.String()
		}
		if err != nil || got != want {
			t.Fatalf("got %s, %v, want %s", got, err, want)
		}
		if got == "Submitted" || got == "Exited lost" {
			if err := w.Do(t.Context(), []scheduler.Action{run}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// slow takes 140 s an iteration, however many GPUs it has.
type slow struct{}

// Step implements workload.Speed.
func (slow) Step(cluster.GPUType, []int, int) (step, sync float64, ok bool) { return 140, 0, true }

// LocalRange implements workload.Speed.
func (slow) LocalRange(cluster.GPUType, []int) (least, most int) { return 1, 1 }

func named(id string, d time.Duration) workload.Arrival {
	a := lasting(d)
	a.Spec.ID = job.ID(id)
	return a
}

// ends returns when jobs end on one node of four GPUs, first in, first out.
func ends(t *testing.T, o sim.Options, so scheduler.Options, jobs ...workload.Arrival) []float64 {
	t.Helper()
	app := &workload.Application{Name: "slow", Batch: job.BatchLimits{Init: 1, Max: 1, LocalMin: 1}, Slowdown: 1, Speed: slow{}}
	catalog := workload.Catalog{"slow": app}
	for i := range jobs {
		if err := catalog.Complete(&jobs[i]); err != nil {
			t.Fatal(err)
		}
	}
	c := fours(t, "n")
	w, err := sim.New(c, catalog, jobs, o)
	if err != nil {
		t.Fatal(err)
	}
	s, err := scheduler.New(queue.New(queue.FIFO()), submesh.New(submesh.DefaultOptions()), c, so)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := metrics.New(metrics.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(context.Background(), w, rec); err != nil {
		t.Fatal(err)
	}
	var at []float64
	for _, j := range rec.Result().Jobs {
		at = append(at, j.Finished)
	}
	return at
}
