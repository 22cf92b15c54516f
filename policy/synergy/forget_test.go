package synergy_test

import (
	"slices"
	"testing"
	"time"

	"github.com/oxgang/oxgang/policy"
)

// A job that left is forgotten although as many run as are known: one that came
// may not be preempted, and so has no row.
func TestPlan_forgets_jobs_that_left_while_others_came(t *testing.T) {
	s := &policy.Snapshot{Now: epoch, Length: time.Minute, Cluster: servers(t, 1, 24), Jobs: []*policy.Job{
		run(t, "a", "res18", 2), run(t, "b", "res18", 2), run(t, "m", "res18", 2),
	}}
	old := fresh(t, nil)
	mustPlan(t, old, s)
	firm := run(t, "d", "lstm", 2)
	firm.Spec.NonPreemptive = true
	next := *s
	next.Round, next.Jobs = 1, append(slices.Delete(slices.Clone(s.Jobs), 1, 2), firm)
	if got, want := mustPlan(t, old, &next).Stats, mustPlan(t, fresh(t, nil), &next).Stats; got.Objective != want.Objective || got.Bound != want.Bound {
		t.Errorf("objective %v and bound %v, want %v and %v of a policy that never knew b", got.Objective, got.Bound, want.Objective, want.Bound)
	}
}
