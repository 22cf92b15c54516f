package synergy_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

// A job that keeps its GPUs is told whether it has more or less than their share,
// and what that does to its speed.
func TestReasons(t *testing.T) {
	s := &policy.Snapshot{Now: epoch, Length: time.Minute, Cluster: servers(t, 1, 24), Jobs: []*policy.Job{
		run(t, "hungry", "res18", 2), run(t, "modest", "gnmt", 4), run(t, "of which nothing is known", "gnmt", 2),
	}}
	s.Jobs[2].Perf, s.Jobs[2].Sensitivity = nil, nil
	p := fresh(t, nil)
	plan := mustPlan(t, p, s)
	told := func() []string {
		var all []string
		for i := range plan.Jobs {
			all = append(all, fmt.Sprintf("%v %.3g", plan.Jobs[i].Why.Kind, plan.Jobs[i].Why.Value))
		}
		return all
	}
	if diff := cmp.Diff([]string{"started 0", "started 0", "started 0"}, told()); diff != "" {
		t.Error(diff)
	}
	s = follow(s, place(t, s, plan))
	plan = mustPlan(t, p, s)
	// 24 cores less 4 and 6 leave 7 for each GPU of the hungry one: 6, 1.75 times as fast.
	want := []string{"above its share of CPUs or memory 1.75", "below its share of CPUs and memory 1", "as planned 0"}
	if diff := cmp.Diff(want, told()); diff != "" {
		t.Error(diff)
	}
}

// Prices are there where something is short, and are what one more core adds.
func TestPrices(t *testing.T) {
	jobs := []*policy.Job{run(t, "a", "res18", 2), run(t, "b", "res18", 2), run(t, "c", "gnmt", 2)}
	for _, tc := range []struct {
		cores float64
		short bool
	}{{24, true}, {96, false}} {
		s := &policy.Snapshot{Now: epoch, Length: time.Minute, Cluster: servers(t, 1, tc.cores), Jobs: jobs}
		plan := mustPlan(t, fresh(t, nil), s)
		if short := len(plan.Prices) > 0; short != tc.short {
			t.Errorf("%v cores: prices %v, want some: %v", tc.cores, plan.Prices, tc.short)
		}
		if tc.short && !(plan.Prices[0].CPU > 0 && plan.Prices[0].Price == 0) {
			t.Errorf("prices %+v, want one of CPUs", plan.Prices)
		}
	}
}

// Jobs that weigh more go first where CPUs are short.
func TestWeights(t *testing.T) {
	s := &policy.Snapshot{Now: epoch, Length: time.Minute, Cluster: servers(t, 1, 24)}
	for i, weight := range []float64{0, 5, 1} {
		j := run(t, job.ID(fmt.Sprint("j", i)), "res18", 2)
		j.Weight = weight
		s.Jobs = append(s.Jobs, j)
	}
	s.Jobs = append(s.Jobs, run(t, "j3", "gnmt", 2)) // leaves 4 cores to the others
	plan := mustPlan(t, fresh(t, nil), s)
	if a, b, c := plan.Jobs[0].Allocation.CPUs, plan.Jobs[1].Allocation.CPUs, plan.Jobs[2].Allocation.CPUs; b <= a || b <= c {
		t.Errorf("weights 1, 5, 1 have %v, %v, %v cores, want most for the second", a, b, c)
	}
}
