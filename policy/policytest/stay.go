package policytest

import (
	"context"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
)

// RunNonPreemptive checks what a policy without preemption promises, together with a placer: over
// rounds in which jobs come and go, and nodes fail and come back, a job that runs keeps its GPUs, on the
// nodes where it has them, until it ends or one of these nodes is gone. Only a reservation that begins
// may take them.
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

// stays fails the test if a job is moved or stopped.
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
