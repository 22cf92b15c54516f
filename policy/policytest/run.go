// Package policytest tests policies: each has to plan rounds with random clusters, jobs and failures.
package policytest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
)

const rounds = 6

// Run checks the contract of policy.Policy. fresh must return a new policy at every call, always with the
// same configuration. Run plays rounds in which jobs come, go, report and lose nodes, and in which nodes
// are rented, lent and returned. It checks that:
//
//   - every plan passes policy.Check, after policy.FillProportional;
//   - equal snapshots, in order, give equal plans, byte for byte;
//   - the policy does not modify the snapshot;
//   - a new policy that receives the memory of another makes the same plans (policy.Rememberer);
//   - a steady policy makes the same plan a round later and a day later if nothing happened;
//   - a policy that ignores progress makes the same plan for any reported progress;
//   - a policy with Traits.Keeps makes the same plan if the continuing jobs are left out of the snapshot;
//   - background work is a pure function and does not panic, and the policy handles late results and errors;
//   - the policy does not panic without jobs, without nodes, or with a cancelled context.
func Run(t *testing.T, fresh func() policy.Policy) {
	t.Helper()
	t.Run("plans keep the rules", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) { keepsRules(t, fresh()) })
	})
	t.Run("same snapshots give the same bytes", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) { sameBytes(t, fresh(), fresh()) })
	})
	t.Run("a copy plans alike", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) { remembers(t, fresh) })
	})
	if fresh().Traits().Steady {
		t.Run("steady", func(t *testing.T) { rapid.Check(t, func(t *rapid.T) { plansAlike(t, fresh()) }) })
	}
	if fresh().Traits().Keeps {
		t.Run("keeps", func(t *testing.T) { rapid.Check(t, func(t *rapid.T) { plansBeside(t, fresh) }) })
	}
	if fresh().Traits().IgnoresProgress {
		t.Run("ignores progress", func(t *testing.T) { rapid.Check(t, func(t *rapid.T) { plansWhateverProgress(t, fresh(), fresh()) }) })
	}
	t.Run("no jobs", func(t *testing.T) {
		s := &policy.Snapshot{Now: Epoch, Length: time.Minute, Cluster: Clusters().Example(1)}
		p, err := fresh().Plan(t.Context(), s)
		if err != nil {
			t.Fatalf("plan: %v", err)
		}
		if err := policy.Check(s, p); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("no nodes", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) { keepsRulesWithoutNodes(t, fresh()) })
	})
	t.Run("cancelled context", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) { cancelled(t, fresh()) })
	})
}

// RunMemoryless is Run for a policy without state between rounds. It also checks that a new policy makes
// the same plan for copies of the rows.
func RunMemoryless(t *testing.T, fresh func() policy.Policy) {
	t.Helper()
	Run(t, fresh)
	t.Run("neither the past nor pointers matter", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			w, p := drawWorld(t), fresh()
			for range rounds {
				s := w.Snapshot()
				got, want := mustPlan(t, p, s), mustPlan(t, fresh(), copyRows(s))
				if a, b := describePlan(got), describePlan(want); a != b {
					t.Fatalf("round %d: an old policy plans\n%s\na new one\n%s", s.Round, a, b)
				}
				w.Advance(t, got)
			}
		})
	})
}

func keepsRules(t *rapid.T, p policy.Policy) {
	w := drawWorld(t)
	for range rounds {
		s := w.Snapshot()
		before := describeSnapshot(s)
		plan := mustPlan(t, p, s)
		if after := describeSnapshot(s); after != before {
			t.Fatalf("round %d: the snapshot was\n%s\nand is\n%s", s.Round, before, after)
		}
		policy.FillProportional(s, plan)
		if err := policy.Check(s, plan); err != nil {
			t.Fatalf("round %d: %v\nsnapshot:\n%s\nplan:\n%s", s.Round, err, before, describePlan(plan))
		}
		w.Advance(t, plan)
	}
}

func keepsRulesWithoutNodes(t *rapid.T, p policy.Policy) {
	w := NewWorld(t)
	for _, failed := range []bool{false, true, false} {
		w.failNodes(func(cluster.NodeID) bool { return failed })
		s := w.Snapshot()
		plan := mustPlan(t, p, s)
		policy.FillProportional(s, plan)
		if err := policy.Check(s, plan); err != nil {
			t.Fatalf("every node failed, %t: %v", failed, err)
		}
		w.Advance(t, plan)
	}
}

func sameBytes(t *rapid.T, p, q policy.Policy) {
	w, other := drawWorld(t), controller{again: true}
	for range rounds {
		s := w.Snapshot()
		its := *s
		its.Computed = other.computed
		one, two := mustPlan(t, p, s), mustPlan(t, q, &its)
		if a, b := describePlan(one), describePlan(two); a != b {
			t.Fatalf("round %d: two policies made the same way plan\n%s\nand\n%s", s.Round, a, b)
		}
		w.Advance(t, one)
		other.advance(two, w.outcome)
	}
}

func plansWhateverProgress(t *rapid.T, p, q policy.Policy) {
	w := drawWorld(t)
	for range rounds {
		s := w.Snapshot()
		other := copyRows(s)
		for _, j := range other.Jobs {
			j.Progress, j.Epoch = rapid.Float64Range(0, 1e6).Draw(t, "progress"), rapid.IntRange(0, 20).Draw(t, "epoch")
			j.Reported = s.Now.Add(-time.Duration(rapid.IntRange(0, 5000).Draw(t, "reported seconds ago")) * time.Second)
		}
		one, two := mustPlan(t, p, s), mustPlan(t, q, other)
		if a, b := describePlan(one), describePlan(two); a != b {
			t.Fatalf("round %d: planned\n%s\nand of jobs with other progress\n%s", s.Round, a, b)
		}
		w.Advance(t, one)
	}
}

func plansAlike(t *rapid.T, p policy.Policy) {
	w := drawWorld(t)
	for range rounds {
		s := w.Snapshot()
		plan := mustPlan(t, p, s)
		for n, later := range []time.Duration{s.Length, 24 * time.Hour} {
			then := *s
			then.Now, then.Round, then.Computed = s.Now.Add(later), s.Round+1+n, nil
			if a, b := describePlan(plan), describePlan(mustPlan(t, p, &then)); a != b {
				t.Fatalf("round %d: planned\n%s\nand of the same rows %v later\n%s", s.Round, a, later, b)
			}
		}
		w.Advance(t, plan)
	}
}

func cancelled(t *rapid.T, p policy.Policy) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s := NewWorld(t).Snapshot()
	plan, err := p.Plan(ctx, s)
	if err == nil {
		err = policy.Check(s, plan) // it may return a plan
	} else if errors.Is(err, context.Canceled) {
		err = nil
	}
	if err != nil {
		t.Fatalf("got %v, want context.Canceled or a plan", err)
	}
}

func mustPlan(t *rapid.T, p policy.Policy, s *policy.Snapshot) *policy.Plan {
	plan, err := p.Plan(context.Background(), s)
	if err != nil {
		t.Fatalf("round %d: plan: %v", s.Round, err)
	}
	return plan
}

func copyRows(s *policy.Snapshot) *policy.Snapshot {
	c := *s
	c.Jobs = make([]*policy.Job, len(s.Jobs))
	for i, j := range s.Jobs {
		row := *j
		c.Jobs[i] = &row
	}
	return &c
}

func describeSnapshot(s *policy.Snapshot) string {
	b := fmt.Appendf(nil, "%v round %d of %v on %+v, rentals %+v, loans %+v\n", s.Now, s.Round, s.Length, s.Cluster.Nodes(), s.Rentals, s.Loans)
	for _, j := range s.Jobs {
		b = fmt.Appendf(b, "  %+v\n    %+v\n    limits %+v, model %+v\n", *j.Spec, j.Status, j.Limits, j.Perf)
	}
	return string(b)
}

func describePlan(p *policy.Plan) string {
	b := fmt.Appendf(nil, "prices %v, %+v, background work: %t, nodes wanted %v, returned %v\n", p.Prices, p.Stats, p.Background != nil, p.Capacity, p.Return)
	for i := range p.Jobs {
		b = fmt.Appendf(b, "  %+v\n", p.Jobs[i])
	}
	return string(b)
}
