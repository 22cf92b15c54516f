package sia

import (
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

// TestPlan_pins keeps, reserves and restores while there is room, in this
// order; what finds none waits, and its plan is as good as any.
func TestPlan_pins(t *testing.T) {
	one := func(n int) cluster.Configuration { return cluster.Configuration{Nodes: 1, GPUs: n, GPUType: "t4"} }
	row := func(id job.ID, phase job.Phase, held int) *policy.Job {
		spec := &job.Spec{ID: id, GPUs: held, Adaptivity: job.Adaptive, Batch: job.BatchLimits{Init: 8, Max: 64}}
		j := &policy.Job{Spec: spec, Limits: &spec.Batch, Status: job.Status{Phase: phase}}
		if held > 0 {
			j.Allocation = cluster.Allocation{Configuration: one(held), Memory: 7}
		}
		return j
	}
	restoring, profiled, odd, late, kept := row("a", job.Restoring, 2), row("b", job.Profiling, 0), row("c", job.Waiting, 0), row("d", job.Waiting, 0), row("e", job.Running, 3)
	profiled.Reservation, odd.Reservation, late.Reservation, kept.NonPreemptive = one(1), one(3), one(3), true
	c, err := cluster.New([]cluster.Node{{ID: "n", GPUType: "t4", Capacity: cluster.Resources{GPUs: 8}}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	s := &policy.Snapshot{Now: time.Unix(1e9, 0), Length: time.Minute, Cluster: c, Jobs: []*policy.Job{restoring, profiled, odd, late, kept}}
	plan, err := p.Plan(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if err := policy.Check(s, plan); err != nil {
		t.Error(err)
	}
	for i, want := range []struct {
		gets cluster.Allocation
		why  policy.Kind
	}{
		{restoring.Allocation, policy.PinnedRestore},
		{cluster.Allocation{}, policy.WaitProfile},
		{cluster.Allocation{Configuration: one(3)}, policy.Reserved}, // three GPUs: no configuration of Sia's
		{cluster.Allocation{}, policy.WaitNoCapacity},
		{kept.Allocation, policy.PinnedNonPreempt},
	} {
		if d := plan.Jobs[i]; d.Allocation != want.gets || d.Why.Kind != want.why {
			t.Errorf("job %s: got %+v, %v, want %+v, %v", s.Jobs[i].ID, d.Allocation, d.Why.Kind, want.gets, want.why)
		}
	}
}
