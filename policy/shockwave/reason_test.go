package shockwave

import (
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/opt/multimode"
	"github.com/oxgang/oxgang/policy"
)

// A job whose turn it is, but that finds too few GPUs, is not said to start in no time.
func TestReasons_when_GPUs_went(t *testing.T) {
	p, err := New(DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	c, err := cluster.New([]cluster.Node{{ID: "n", GPUType: "g", Capacity: cluster.Resources{GPUs: 2}}})
	if err != nil {
		t.Fatal(err)
	}
	a, b, pinned := scheduled(20, 10), scheduled(20, 10), scheduled(20, 10)
	b.Spec.ID, pinned.Spec.ID, pinned.Spec.NonPreemptive = "k", "pinned", true
	s := &policy.Snapshot{Now: time.Unix(1e9, 0), Length: 2 * time.Minute, Cluster: c, Jobs: []*policy.Job{a, b}}
	first, err := p.Plan(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	next := *s
	next.Round, next.Jobs, next.Computed = 1, append(next.Jobs, pinned), first.Background.Do(t.Context())
	second, err := p.Plan(t.Context(), &next)
	if err != nil {
		t.Fatal(err)
	}
	if why := second.Jobs[1].Why; why.Kind != policy.WaitPlanned || why.Value != 120 || why.Limit != 19*120 {
		t.Errorf("got %+v, want it planned for the next round, and 19 in all", why)
	}
}

// The gap is that of policy.Stats, and so finite where the bound is 0.
func TestStats_gap(t *testing.T) {
	for _, test := range []struct{ value, bound, gap float64 }{{-2, 0, 1}, {-0.5, 0, 0.5}, {4, 5, 0.25}} {
		p, err := New(DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		s := &policy.Snapshot{Now: time.Unix(1e9, 0), Round: 1, Length: 2 * time.Minute, Cluster: oneGPU(t)}
		s.Computed = &window{first: 1, rounds: 20, solved: &multimode.Schedule{Value: test.value, Bound: test.bound}}
		plan, err := p.Plan(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "gap", plan.Stats.Gap, test.gap)
	}
}
