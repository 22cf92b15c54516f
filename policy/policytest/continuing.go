package policytest

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
)

func plansBeside(t *rapid.T, fresh func() policy.Policy) {
	w, p := newWorld(t, uncounted(t), market{}), fresh()
	var before map[*policy.Job]policy.Decision
	for range 2 * rounds {
		w.jobs = slices.DeleteFunc(w.jobs, func(j *policy.Job) bool { return !j.Reservation.IsZero() })
		s := w.Snapshot()
		plan := mustPlan(t, p, s)
		if len(before) > 0 {
			besides(t, fresh(), s, plan, before)
		}
		before = make(map[*policy.Job]policy.Decision)
		for i, j := range s.Jobs {
			d := plan.Jobs[i]
			if d.Placement == nil && d.Allocation == j.Allocation {
				d.Placement = j.Placement
			}
			if j.Continues(&d) {
				before[j] = plan.Jobs[i]
			}
		}
		w.Advance(t, plan)
		if same := func(a, b cluster.Node) bool { return a.ID == b.ID }; !slices.EqualFunc(s.Cluster.Nodes(), w.cluster.Nodes(), same) {
			before = nil
		}
	}
}

func uncounted(t *rapid.T) *cluster.Cluster {
	nodes := slices.Clone(Clusters().Draw(t, "cluster").Nodes())
	for i := range nodes {
		nodes[i].Capacity = cluster.Resources{GPUs: nodes[i].Capacity.GPUs}
	}
	c, err := cluster.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func besides(t *rapid.T, p policy.Policy, s *policy.Snapshot, plan *policy.Plan, before map[*policy.Job]policy.Decision) {
	few, want := *s, *plan
	few.Jobs, want.Jobs = nil, nil
	few.Continuing = &policy.Continuing{ByNode: make([]int, len(s.Cluster.Nodes())), ByType: make([]int, len(s.Cluster.Types()))}
	for i, j := range s.Jobs {
		d, continues := before[j]
		if !continues || oneIn(t, 4, "is shown all the same") {
			few.Jobs, want.Jobs = append(few.Jobs, j), append(want.Jobs, plan.Jobs[i])
			continue
		}
		few.Continuing.Add(s.Cluster, j, 1)
		if a, b := fmt.Sprintf("%+v", d), fmt.Sprintf("%+v", plan.Jobs[i]); a != b {
			t.Fatalf("round %d: of %s, which continues, was decided\n%s\nand now\n%s", s.Round, j.ID, a, b)
		}
	}
	got := mustPlan(t, p, &few)
	if a, b := describePlan(&want), describePlan(got); a != b {
		t.Fatalf("round %d: planned\n%s\nand without %d jobs that continue\n%s", s.Round, a, few.Continuing.Jobs, b)
	}
	if err := policy.Check(&few, got); err != nil {
		t.Fatalf("round %d, without %d jobs that continue: %v", s.Round, few.Continuing.Jobs, err)
	}
}
