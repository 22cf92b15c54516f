package oxgang

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

func sharing() Options {
	o := DefaultOptions()
	o.Guarantee = UserGuarantee
	return o
}

func ofUser(name string, weight float64) func(*job.Spec) {
	return func(s *job.Spec) { s.User, s.Weight = name, weight }
}

// Three gangs without checkpoints hold all 6 nodes when another tenant submits six jobs of one node each. One gang, the
// one that lost the most, stays within the share; the others stop as far as the other tenant's share needs it.
func TestPlan_share_of_a_tenant_with_gangs(t *testing.T) {
	w := newSmall(t, sharing(), 6, 8)
	for n := range 3 {
		w.submit(job.ID(fmt.Sprint("gang-", n)), 16, 9*time.Hour, ofUser("a", 1), unsaved)
	}
	w.expect("alone", map[job.ID]int{"gang-0": 16, "gang-1": 16, "gang-2": 16})
	for n := range 6 {
		w.submit(job.ID(fmt.Sprint("node-", n)), 8, time.Hour, ofUser("b", 1), unsaved)
	}
	for range 5 {
		w.expectUsers("with another tenant", map[string]int{"a": 16, "b": 32})
	}
}

// Six jobs of one node hold all nodes; three stop for the share of another tenant.
func TestPlan_share_of_a_tenant_that_comes_later(t *testing.T) {
	for weight, want := range map[float64]map[string]int{1: {"a": 24, "b": 24}, 2: {"a": 16, "b": 32}} {
		w := newSmall(t, sharing(), 6, 8)
		for n := range 6 {
			w.submit(job.ID(fmt.Sprint("a", n)), 8, 9*time.Hour, ofUser("a", 1), unsaved)
		}
		w.expectUsers("alone", map[string]int{"a": 48})
		for n := range 6 {
			w.submit(job.ID(fmt.Sprint("b", n)), 8, 9*time.Hour, ofUser("b", weight), unsaved)
		}
		for range 5 {
			w.expectUsers(fmt.Sprint("weight ", weight), want)
		}
	}
}

// Equal shares do not follow the weights that users give to their jobs.
func TestPlan_equal_shares(t *testing.T) {
	o := sharing()
	o.Guarantee = EqualGuarantee
	w := newSmall(t, o, 6, 8)
	for n := range 6 {
		w.submit(job.ID(fmt.Sprint("a", n)), 8, 9*time.Hour, ofUser("a", 1), unsaved)
	}
	w.expectUsers("alone", map[string]int{"a": 48})
	for n := range 6 {
		w.submit(job.ID(fmt.Sprint("b", n)), 8, 9*time.Hour, ofUser("b", 1e6), unsaved)
	}
	for range 5 {
		w.expectUsers("with the other user", map[string]int{"a": 24, "b": 24})
	}
}

// A job beyond the share of its user reports that, and runs once the others leave GPUs.
func TestPlan_share_is_named_as_the_reason(t *testing.T) {
	w := newSmall(t, sharing(), 2, 8)
	w.submit("a0", 16, 9*time.Hour, ofUser("a", 1), unsaved)
	w.expect("alone", map[job.ID]int{"a0": 16})
	w.submit("b0", 8, 5*time.Minute, ofUser("b", 1))
	w.expect("the share of the other", map[job.ID]int{"b0": 8})
	if why := w.last.Jobs[0].Why; why.Kind != policy.WaitShare || why.Config.GPUs != 16 {
		t.Errorf("%+v: want %v", why, policy.WaitShare)
	}
	for range 5 {
		w.round()
	}
	w.expect("afterwards", map[job.ID]int{"a0": 16})
}

func (w *small) expectUsers(what string, want map[string]int) {
	w.t.Helper()
	has := make(map[string]int)
	w.round()
	for i, j := range w.before.Jobs {
		has[j.User] += w.last.Jobs[i].Allocation.GPUs
	}
	if fmt.Sprint(has) != fmt.Sprint(want) {
		w.t.Errorf("%s: %v, want %v\n%s", what, has, want, (&small{s: w.before, last: w.last}).list(w.last))
	}
}

// Shares change no decision if all jobs have one user, whatever their weights.
func TestPlan_shares_of_one_user(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		sizes := rapid.SliceOfN(rapid.IntRange(1, 16), 1, 12).Draw(rt, "GPUs")
		play := func(o Options) (all []string) {
			w := newSmall(t, o, 2, 8)
			for n, gpus := range sizes {
				w.submit(job.ID(fmt.Sprint("j", n)), gpus, time.Duration(1+n*n%7)*10*time.Minute, ofUser("a", float64(1+n%3)), func(s *job.Spec) { s.NoCheckpoint = n%2 == 0 })
			}
			for range 6 {
				w.round()
				all = append(all, fmt.Sprintf("%+v", *w.last))
			}
			return all
		}
		if a, b := play(DefaultOptions()), play(sharing()); fmt.Sprint(a) != fmt.Sprint(b) {
			rt.Fatalf("plans are\n%v\nwant\n%v", b, a)
		}
	})
}
