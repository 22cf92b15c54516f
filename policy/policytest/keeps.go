package policytest

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/policy"
)

// plansBeside leaves out of each snapshot some of the jobs that stand since the round before, as a scheduler
// does: what is decided on them must be what was, and all else as if they were shown.
func plansBeside(t *rapid.T, fresh func() policy.Policy) {
	w, p := drawWorld(t), fresh()
	var before map[*policy.Job]policy.Decision
	for range rounds {
		s := w.Snapshot()
		plan := mustPlan(t, p, s)
		if len(before) > 0 && mayStand(s) {
			besides(t, fresh(), s, plan, before)
		}
		before = make(map[*policy.Job]policy.Decision)
		for i, j := range s.Jobs {
			if j.Stands(&plan.Jobs[i]) {
				before[j] = plan.Jobs[i]
			}
		}
		was := w.cluster
		w.Advance(t, plan)
		if w.cluster != was {
			before = nil
		}
	}
}

// mayStand reports whether a scheduler may leave out jobs of a snapshot.
func mayStand(s *policy.Snapshot) bool {
	counts := func(t cluster.TypeInfo) bool { return t.Counts() }
	reserved := func(j *policy.Job) bool { return !j.Reservation.IsZero() }
	return len(s.Rentals)+len(s.Loans) == 0 && !slices.ContainsFunc(s.Cluster.Types(), counts) && !slices.ContainsFunc(s.Jobs, reserved)
}

// besides compares the plan for a snapshot with that for it without some of the jobs that stand.
func besides(t *rapid.T, p policy.Policy, s *policy.Snapshot, plan *policy.Plan, before map[*policy.Job]policy.Decision) {
	few, want := *s, *plan
	few.Jobs, want.Jobs = nil, nil
	few.Standing = &policy.Standing{ByNode: make([]int, len(s.Cluster.Nodes())), ByType: make([]int, len(s.Cluster.Types()))}
	for i, j := range s.Jobs {
		d, stands := before[j]
		if !stands || oneIn(t, 4, "is shown all the same") {
			few.Jobs, want.Jobs = append(few.Jobs, j), append(want.Jobs, plan.Jobs[i])
			continue
		}
		few.Standing.Add(s.Cluster, j, 1)
		if a, b := fmt.Sprintf("%+v", d), fmt.Sprintf("%+v", plan.Jobs[i]); a != b {
			t.Fatalf("round %d: of %s, which stands, was decided\n%s\nand now\n%s", s.Round, j.ID, a, b)
		}
	}
	got := mustPlan(t, p, &few)
	if a, b := describePlan(&want), describePlan(got); a != b {
		t.Fatalf("round %d: planned\n%s\nand without %d jobs that stand\n%s", s.Round, a, few.Standing.Jobs, b)
	}
	if err := policy.Check(&few, got); err != nil {
		t.Fatalf("round %d, without %d jobs that stand: %v", s.Round, few.Standing.Jobs, err)
	}
}
