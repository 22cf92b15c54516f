package policytest

import (
	"context"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
)

// RunNonPreemptive checks that a policy never takes GPUs or nodes from a running job, except when a
// reservation starts or a node is lost.
func RunNonPreemptive(t *testing.T, fresh func() (policy.Policy, placement.Placer)) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) {
		p, placer := fresh()
		w := NewWorld(t)
		for range rounds {
			s := w.Snapshot()
			plan := mustPlan(t, p, s)
			policy.FillProportional(s, plan)
			plan, err := placer.Place(context.Background(), s, plan)
			if err != nil {
				t.Fatalf("round %d: place: %v", s.Round, err)
			}
			stays(t, s, plan)
			w.Advance(t, plan)
		}
	})
}

func stays(t *rapid.T, s *policy.Snapshot, plan *policy.Plan) {
	if slices.ContainsFunc(s.Jobs, func(j *policy.Job) bool { return !j.Reservation.IsZero() && !j.Holding() }) {
		return
	}
	for i, j := range s.Jobs {
		d := &plan.Jobs[i]
		if j.Holding() && (!d.Allocation.SameGPUs(&j.Allocation) || !d.Placement.SameGPUs(j.Placement)) {
			t.Fatalf("round %d: job %s had %v on %v, and gets %v on %v: %v\n%s\n%s", s.Round, j.ID,
				j.Allocation, j.Placement, d.Allocation, d.Placement, d.Why, describeSnapshot(s), describePlan(plan))
		}
	}
}
