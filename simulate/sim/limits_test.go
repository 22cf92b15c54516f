package sim_test

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/simulate/sim"
	"github.com/oxgang/oxgang/simulate/workload"
)

func fours(t *testing.T, ids ...cluster.NodeID) *cluster.Cluster {
	t.Helper()
	nodes := make([]cluster.Node, len(ids))
	for i, id := range ids {
		nodes[i] = cluster.Node{ID: id, GPUType: "t4", Capacity: cluster.Resources{GPUs: 4}}
	}
	c, err := cluster.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// lasting returns a job of fixed duration on four GPUs.
func lasting(d time.Duration) workload.Arrival {
	a := workload.Arrival{Duration: d}
	a.Spec.ID, a.Spec.GPUs, a.Spec.Target = "j", 4, d.Seconds()
	return a
}

// What is to come after longer than a time.Duration can tell comes last, not
// first.
func TestWorld_far_future(t *testing.T) {
	o := sim.DefaultOptions()
	o.Faults = sim.Faults{NodeMTBF: 1<<63 - 1, Repair: time.Hour}
	ids := strings.Split("abcdefghijklmnop", "") // so many that some time is longer than the mean
	nodes := make([]cluster.NodeID, len(ids))
	for i, id := range ids {
		nodes[i] = cluster.NodeID(id)
	}
	w, err := sim.New(fours(t, nodes...), workload.Catalog{}, []workload.Arrival{lasting(time.Hour)}, o)
	if err != nil {
		t.Fatal(err)
	}
	ev, err := w.Next(context.Background(), w.Now().Add(time.Minute))
	if _, ok := ev.(scheduler.Submitted); !ok || err != nil || !w.Now().Equal(sim.Epoch) {
		t.Errorf("got %T at %v, error %v, want a job submitted at the start", ev, w.Now(), err)
	}
}

// A job that waits for a window of maintenance to end is not stuck, however
// many rounds that takes.
func TestWorld_waits_for_maintenance(t *testing.T) {
	o := sim.DefaultOptions()
	o.Faults.Maintenance = []sim.Window{{Nodes: []cluster.NodeID{"n"}, From: time.Minute, To: 20_000 * time.Minute}}
	w, err := sim.New(fours(t, "n"), workload.Catalog{}, []workload.Arrival{lasting(time.Hour)}, o)
	if err != nil {
		t.Fatal(err)
	}
	changes := 0
	for deadline := w.Now(); changes < 2; {
		ev, err := w.Next(context.Background(), deadline)
		if err != nil {
			t.Fatal(err)
		}
		switch ev.(type) {
		case nil:
			deadline = deadline.Add(time.Minute)
		case scheduler.NodesChanged:
			changes++
		}
	}
	if got := w.Now().Sub(sim.Epoch); got != 20_000*time.Minute {
		t.Errorf("the nodes are back after %v, want %v", got, 20_000*time.Minute)
	}
}

// lossAt runs a job of an hour for half an hour, when it loses its GPUs by the given faults, and starts
// it again at once. It returns when the job ends.
func lossAt(t *testing.T, f sim.Faults) time.Duration {
	t.Helper()
	o, none := sim.DefaultOptions(), time.Duration(0)
	o.Restart, o.Faults = &none, f
	w, err := sim.New(fours(t, "n", "m"), workload.Catalog{}, []workload.Arrival{lasting(time.Hour)}, o)
	if err != nil {
		t.Fatal(err)
	}
	for node := cluster.NodeID("n"); ; {
		ev, err := w.Next(t.Context(), w.Now().Add(time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		switch ev := ev.(type) {
		case scheduler.Submitted:
		case scheduler.Exited:
			if ev.Outcome == scheduler.Done {
				return w.Now().Sub(sim.Epoch)
			}
			if at := w.Now().Sub(sim.Epoch); at != 30*time.Minute {
				t.Errorf("the job lost its GPUs after %v, want 30m", at)
			}
			node = "m"
		default:
			continue
		}
		run := scheduler.Run{Job: "j", Placement: cluster.Placement{{Node: node, Resources: cluster.Resources{GPUs: 4}}}}
		run.Allocation.Configuration = cluster.Configuration{Nodes: 1, GPUs: 4, GPUType: "t4"}
		if err := w.Do(t.Context(), []scheduler.Action{run}); err != nil {
			t.Fatal(err)
		}
	}
}

// A job loses what it did since its last checkpoint if it fails or its node does, and nothing in
// planned maintenance; what befalls other nodes and jobs is nothing to it.
func TestWorld_losses(t *testing.T) {
	half := 30 * time.Minute
	away := func(failed bool) sim.Window {
		return sim.Window{Nodes: []cluster.NodeID{"n"}, From: half, To: 2 * half, Failed: failed}
	}
	for name, tc := range map[string]struct {
		faults sim.Faults
		want   time.Duration
	}{
		"maintenance":                    {sim.Faults{Maintenance: []sim.Window{away(false)}}, time.Hour},
		"its node fails":                 {sim.Faults{Maintenance: []sim.Window{away(true)}}, 3 * half},
		"it fails":                       {sim.Faults{Losses: []sim.Loss{{Job: "j", At: half}}}, 3 * half},
		"another fails, or has not come": {sim.Faults{Losses: []sim.Loss{{Job: "k", At: half}}}, time.Hour},
	} {
		if got := lossAt(t, tc.faults); got != tc.want {
			t.Errorf("%s: the job ended after %v, want %v", name, got, tc.want)
		}
	}
	o := sim.DefaultOptions()
	o.Faults.Losses = []sim.Loss{{Job: "j", At: -1}}
	if err := o.Validate(); err == nil || !strings.Contains(err.Error(), "failure of job j at -1ns") {
		t.Errorf("got error %v, want one", err)
	}
}

func TestOptions_failures_that_leave_no_time(t *testing.T) {
	o := sim.DefaultOptions()
	o.Faults.GPUMTBF = time.Nanosecond
	if err := o.Validate(); err == nil || !strings.Contains(err.Error(), "GPU MTBF 1ns") {
		t.Errorf("got error %v, want one", err)
	}
}

// A factor of slow GPUs that would make steps faster, or run backwards, is an error also without stragglers.
func TestOptions_slow(t *testing.T) {
	for slow, good := range map[float64]bool{0: true, 1: true, 2.5: true, 0.5: false, -2: false, math.NaN(): false} {
		o := sim.DefaultOptions()
		o.Noise.Slow = slow
		if err := o.Validate(); (err == nil) != good {
			t.Errorf("%v times as slow: error %v, want one: %v", slow, err, !good)
		}
	}
}

func TestOptions_exchange_across_racks(t *testing.T) {
	for times, good := range map[float64]bool{0: true, 1: true, 2.5: true, 0.5: false, -1: false, math.Inf(1): false, math.NaN(): false} {
		o := sim.DefaultOptions()
		o.CrossRack = times
		if err := o.Validate(); (err == nil) != good {
			t.Errorf("%v times as long: error %v, want one: %v", times, err, !good)
		}
	}
}

func TestFits(t *testing.T) {
	c, err := cluster.New([]cluster.Node{
		{ID: "a", GPUType: "t4", Capacity: cluster.Resources{GPUs: 4}}, {ID: "b", GPUType: "rtx", Capacity: cluster.Resources{GPUs: 8}},
	})
	if err != nil {
		t.Fatal(err)
	}
	stages := map[cluster.GPUType]int{"t4": 4, "rtx": 8}
	for name, tc := range map[string]struct {
		spec job.Spec
		want string // in the error; empty: it fits
	}{
		"rigid":                    {job.Spec{Adaptivity: job.Rigid, GPUs: 8}, ""},
		"rigid, too large":         {job.Spec{Adaptivity: job.Rigid, GPUs: 9}, "needs 9 GPUs of one eligible type, can get at most 8"},
		"rigid, of the small type": {job.Spec{Adaptivity: job.Rigid, GPUs: 8, GPUTypes: []cluster.GPUType{"t4"}}, "needs 8 GPUs of one eligible type, can get at most 4"},
		"adaptive":                 {job.Spec{Adaptivity: job.Adaptive, GPUs: 99}, ""},
		"adaptive, least too many": {job.Spec{Adaptivity: job.Adaptive, MinGPUs: 9}, "needs 9 GPUs"},
		"replicas on one type":     {job.Spec{Adaptivity: job.Adaptive, GPUsPerReplica: stages, MaxGPUs: 4}, ""},
		"replicas above its most":  {job.Spec{Adaptivity: job.Adaptive, GPUsPerReplica: stages, MaxGPUs: 2}, "needs 4 GPUs of one eligible type, can get at most 2"},
		"no such type":             {job.Spec{Adaptivity: job.Adaptive, GPUTypes: []cluster.GPUType{"tpu"}}, "no GPU type that it may use"},
		"reserved":                 {job.Spec{Reservation: cluster.Configuration{Nodes: 1, GPUs: 8, GPUType: "rtx"}}, ""},
		"reserved, too many":       {job.Spec{Reservation: cluster.Configuration{Nodes: 1, GPUs: 8, GPUType: "t4"}}, "reserves (1, 8, t4)"},
		"reserved, no such type":   {job.Spec{Reservation: cluster.Configuration{Nodes: 1, GPUs: 1, GPUType: "tpu"}}, "reserves (1, 1, tpu)"},
	} {
		err := sim.Fits(c, &tc.spec)
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %q", name, err, tc.want)
		}
	}
}
