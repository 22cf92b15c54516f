package sim_test

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement/submesh"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/scheduler/schedulertest"
	"github.com/oxgang/oxgang/simulate/sim"
	"github.com/oxgang/oxgang/simulate/workload"
	"github.com/oxgang/oxgang/simulate/workload/profiles"
)

// A step is what the only job gets in a round: GPUs of the nodes v, of v100, and t, of t4.
type step struct{ v100, t4 int }

// stepped gives the only job what each round says, and then the last again.
type stepped struct{ rounds []step }

func (*stepped) Traits() policy.Traits { return policy.Traits{} }

// Plan implements policy.Policy.
func (p *stepped) Plan(_ context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	at := p.rounds[0]
	p.rounds = p.rounds[min(1, len(p.rounds)-1):]
	var d policy.Decision
	own, also := &d.Allocation.Configuration, &d.Allocation.Also
	if at.v100 == 0 {
		also = own
	}
	for node, n := range map[cluster.NodeID]int{"t": at.t4, "v": at.v100} {
		c := own
		if node == "t" {
			c = also
		}
		if n > 0 {
			*c = cluster.Configuration{Nodes: 1, GPUs: n, GPUType: map[cluster.NodeID]cluster.GPUType{"t": "t4", "v": "v100"}[node]}
			d.Placement = append(d.Placement, cluster.Share{Node: node, Resources: cluster.Resources{GPUs: n}})
		}
	}
	d.Placement.Sort()
	return &policy.Plan{Jobs: []policy.Decision{d}}, nil
}

// exits keeps why jobs ended.
type exits []string

// Event implements scheduler.Observer.
func (e *exits) Event(_ time.Time, ev scheduler.Event) {
	if x, ok := ev.(scheduler.Exited); ok {
		*e = append(*e, x.Outcome.String()+x.Detail)
	}
}

// Round implements scheduler.Observer.
func (*exits) Round(*policy.Snapshot, *policy.Plan, []scheduler.Action) {}

// ran runs one job by rounds of a minute, with starts that cost nothing.
func ran(t *testing.T, catalog workload.Catalog, a workload.Arrival, rounds ...step) (metrics.JobResult, exits) {
	t.Helper()
	c, err := cluster.New([]cluster.Node{
		{ID: "t", GPUType: "t4", Capacity: cluster.Resources{GPUs: 12}},
		{ID: "v", GPUType: "v100", Capacity: cluster.Resources{GPUs: 8}},
	})
	if err != nil {
		t.Fatal(err)
	}
	o, none := sim.DefaultOptions(), time.Duration(0)
	o.Restart = &none
	w, err := sim.New(c, catalog, []workload.Arrival{a}, o)
	if err != nil {
		t.Fatal(err)
	}
	so := scheduler.DefaultOptions()
	so.First, so.Profile = time.Nanosecond, false
	s, err := scheduler.New(&stepped{rounds}, submesh.New(submesh.DefaultOptions()), c, so)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := metrics.New(metrics.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	audit, seen := schedulertest.Audit(), exits{}
	if err := s.Run(t.Context(), w, rec, audit, &seen); err != nil {
		t.Fatal(err)
	}
	if err := audit.End(); err != nil {
		t.Error(err)
	}
	return rec.Result().Jobs[0], seen
}

// mixing returns a job of four GPUs, three t4 of which do the work of one, that keeps a share
// of its speed on two types.
func mixing(d time.Duration, speed float64) workload.Arrival {
	a := lasting(d)
	a.Spec.Adaptivity, a.Spec.Resizes = job.StrongScaling|job.Heterogeneous, true
	a.Spec.MinGPUs, a.Spec.MaxGPUs = 2, 8
	a.Spec.Equivalents, a.Spec.MixedSpeed = map[cluster.GPUType]int{"t4": 3}, speed
	return a
}

// Lyra §7.1: on GPUs of two types a job is as fast as what they are worth, times 0.7.
func TestWorld_jobs_on_two_types(t *testing.T) {
	rigid := mixing(10*time.Minute, 0.7)
	rigid.Spec.Adaptivity &^= job.GPUCount
	rigid.Spec.Resizes = false
	lossy := mixing(10*time.Minute, 1)
	lossy.ScalingLoss = 0.2
	for name, c := range map[string]struct {
		a        workload.Arrival
		rounds   []step
		want     float64 // seconds
		restarts int
	}{
		"one type":                   {mixing(10*time.Minute, 0.7), []step{{4, 0}}, 600, 0},
		"two types, worth 4":         {rigid, []step{{3, 3}}, 600 / 0.7, 0},
		"two types at full speed":    {mixing(10*time.Minute, 1), []step{{3, 3}}, 600, 0},
		"0 is full speed":            {mixing(10*time.Minute, 0), []step{{3, 3}}, 600, 0},
		"two types, worth 8":         {mixing(10*time.Minute, 0.7), []step{{4, 12}}, 300 / 0.7, 0},
		"with a loss beyond 4":       {lossy, []step{{4, 12}}, 600 / 1.8, 0},
		"a second type for a minute": {mixing(10*time.Minute, 0.7), []step{{4, 0}, {4, 12}, {4, 0}}, 600 - 0.4*60, 0},
		"the first type goes":        {mixing(10*time.Minute, 0.7), []step{{4, 6}, {0, 6}}, 60 + (600-60*1.5*0.7)*2, 0},
		"one that cannot resize":     {rigid, []step{{4, 0}, {3, 3}}, 60 + 540/0.7, 1},
	} {
		got, _ := ran(t, nil, c.a, c.rounds...)
		if got.Outcome != metrics.Done || math.Abs(got.JCT-c.want) > 1e-3 || got.Restarts != c.restarts {
			t.Errorf("%s: %s after %g s with %d restarts, want done after %g with %d", name, got.Outcome, got.JCT, got.Restarts, c.want, c.restarts)
		}
	}
}

// An application whose speed was measured was not measured on two types: it fails, and says why.
func TestWorld_applications_do_not_run_on_two_types(t *testing.T) {
	catalog := profiles.Default()
	a := workload.Arrival{Application: "cifar10"}
	a.Spec.ID, a.Spec.Adaptivity = "j", job.Adaptive
	if err := catalog.Complete(&a); err != nil {
		t.Fatal(err)
	}
	a.Spec.Adaptivity |= job.Heterogeneous
	got, seen := ran(t, catalog, a, step{v100: 4}, step{v100: 4, t4: 2})
	if want := "failedcifar10 does not run on (1, 4, v100) + (1, 2, t4) with"; got.Outcome != metrics.Failed || len(seen) != 1 || !strings.HasPrefix(seen[0], want) {
		t.Errorf("got %s, %q, want %q", got.Outcome, seen, want)
	}
}

// Workers that join and leave an application are no part of a measurement of what was before.
func TestWorld_measures_what_is_resized(t *testing.T) {
	catalog := profiles.Default()
	a := workload.Arrival{Application: "cifar10"}
	a.Spec.ID, a.Spec.Adaptivity, a.Spec.Resizes = "j", job.Adaptive, true
	if err := catalog.Complete(&a); err != nil {
		t.Fatal(err)
	}
	if got, _ := ran(t, catalog, a, step{v100: 4}, step{v100: 8}, step{v100: 6}); got.Outcome != metrics.Done || got.Restarts != 0 {
		t.Errorf("got %s with %d restarts, want done with none", got.Outcome, got.Restarts)
	}
}

// A job without checkpoints keeps what it did while it resizes, and begins anew where it is
// restarted.
func TestWorld_jobs_without_checkpoints(t *testing.T) {
	a := mixing(10*time.Minute, 1)
	a.Spec.NoCheckpoint = true
	got, _ := ran(t, nil, a, step{v100: 4}, step{v100: 8}, step{t4: 12})
	if got.Outcome != metrics.Done || math.Abs(got.JCT-720) > 1e-3 || got.Restarts != 1 {
		t.Errorf("%s after %g s with %d restarts, want done after 720 with 1", got.Outcome, got.JCT, got.Restarts)
	}
}

// So it does in a world that counts steps.
func TestWorld_steps_without_checkpoints(t *testing.T) {
	for none, want := range map[bool]float64{false: 240, true: 300} {
		o := sim.DefaultOptions()
		o.Public.WholeRounds = true
		o.Faults.Maintenance = []sim.Window{{Nodes: []cluster.NodeID{"n"}, From: 90 * time.Second, To: 2 * time.Minute}}
		a := named("a", 3*time.Minute)
		a.Spec.NoCheckpoint = none
		if got := ends(t, o, scheduler.DefaultOptions(), a); len(got) != 1 || got[0] != want {
			t.Errorf("without checkpoints %t: ended at %g, want %g", none, got, want)
		}
	}
}
