package gavel_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/rivals/gavel"
)

func public(t *testing.T, objective gavel.Objective, change func(*gavel.Options)) policy.Policy {
	return fresh(t, func(o *gavel.Options) {
		o.Objective, o.Rules, o.Reset = objective, gavel.PublicCode, 1000*time.Second
		if change != nil {
			change(o)
		}
	})
}

// runs plays rounds and returns who ran in each, by the order of submission.
func (w *testCluster) runs(p policy.Policy, rounds int) []string {
	var all []string
	for range rounds {
		who := ""
		s := w.snapshot()
		for i, d := range w.play(p).Jobs {
			if d.Allocation.GPUs > 0 {
				who += string(s.Jobs[i].ID)
			}
		}
		all = append(all, who)
	}
	return all
}

// Gavel simulator: a job that came after fractions were found has none until Reset
// has passed, and waits, though a GPU is free. The first solution does not count.
func TestPublic_newcomers_wait_for_the_reset(t *testing.T) {
	w := newTestCluster(t, 4, 1)
	endless(w.submit("a", 1, 1))
	p := public(t, gavel.MaxMin, nil)
	got := w.runs(p, 1)
	endless(w.submit("b", 1, 1))
	got = append(got, w.runs(p, 1)...)
	endless(w.submit("c", 1, 1))
	got = append(got, w.runs(p, 10)...)
	want := []string{"a", "ab", "ab", "ab", "ab", "ab", "ab", "ab", "ab", "ab", "abc", "abc"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("who ran -want +got\n%s", d)
	}
}

// The first solution is the first that is found, though nobody shared GPUs before.
func TestPublic_rounds_without_fractions_do_not_count(t *testing.T) {
	w := newTestCluster(t, 4, 1)
	endless(w.submit("z", 1, 1)).Phase = job.Profiling
	p := public(t, gavel.MaxMin, nil)
	got := w.runs(p, 1)
	w.jobs = nil
	endless(w.submit("a", 1, 1))
	got = append(got, w.runs(p, 1)...)
	endless(w.submit("b", 1, 1))
	got = append(got, w.runs(p, 1)...)
	if d := cmp.Diff([]string{"", "a", "ab"}, got); d != "" {
		t.Errorf("who ran -want +got\n%s", d)
	}
}

// Gavel simulator: of equal fractions the one that had least runs, and what a
// round's whole steps take counts: 119 s of steps of 7 s, against 120 s.
func TestPublic_priorities(t *testing.T) {
	w := newTestCluster(t, 1, 1)
	endless(w.submit("a", 1, 1)).Perf = speed{"a": 1}
	endless(w.submit("b", 1, 1)).Perf = speed{"a": 1.0 / 7}
	endless(w.submit("c", 1, 1)).Perf = speed{"a": 1}
	got := w.runs(public(t, gavel.Stride, nil), 7)
	// all have had half a round; then a, b and c have one each, b the shortest
	if d := cmp.Diff([]string{"a", "b", "c", "b", "a", "c", "b"}, got); d != "" {
		t.Errorf("who ran -want +got\n%s", d)
	}
}

// Shockwave simulator: a job that did not run in the round before loses time, for
// which it is not charged.
func TestPublic_a_restart_is_not_charged(t *testing.T) {
	rules := func(loss time.Duration) []string {
		w := newTestCluster(t, 1, 1)
		endless(w.submit("a", 1, 1)).Spec.Weight = 4
		endless(w.submit("b", 1, 1))
		return w.runs(public(t, gavel.MaxMin, func(o *gavel.Options) { o.Loss = loss }), 8)
	}
	free, costly := rules(0), rules(70*time.Second)
	if d := cmp.Diff([]string{"a", "a", "b", "a", "a", "a", "a", "b"}, free); d != "" {
		t.Errorf("without a loss -want +got\n%s", d)
	}
	if d := cmp.Diff([]string{"a", "a", "b", "a", "a", "b", "a", "a"}, costly); d != "" {
		t.Errorf("with a loss of 70 s -want +got\n%s", d)
	}
}

// Gavel simulator: the makespan is bisected from 100 s to 10⁶ s until its ends are
// within 5 %, so that it is up to 5 % above the least.
func TestPublic_makespan_is_bisected(t *testing.T) {
	w := newTestCluster(t, 2, 1)
	for _, id := range []string{"a", "b", "c"} {
		w.submit(id, 1, 1).Target = 12345 * 5
	}
	plan := w.play(public(t, gavel.Makespan, nil))
	least := 1.5 * 12345
	if got := plan.Stats.Objective; got < least || got > 1.05*least {
		t.Errorf("makespan %g, want %g to %g", got, least, 1.05*least)
	}
	near(t, "bound", plan.Stats.Bound, least, 1)
}

// Where the public code's method does not converge, the fractions are those of the
// paper's rules.
func TestPublic_throughputs_that_differ_too_much(t *testing.T) {
	stats := func(rules gavel.Rules) policy.Stats {
		w := newTestCluster(t, 4, 2)
		for i, rate := range []float64{1e-15, 1, 1e15, 1e-9, 1e9, 1e12} {
			endless(w.submit(fmt.Sprint(i), 1, rate))
		}
		return w.play(fresh(t, func(o *gavel.Options) { o.Objective, o.Rules = gavel.Sum, rules })).Stats
	}
	if d := cmp.Diff(stats(gavel.Paper), stats(gavel.PublicCode)); d != "" {
		t.Errorf("-paper +public code\n%s", d)
	}
}

func TestOptions_Validate(t *testing.T) {
	for _, tc := range []struct {
		o    gavel.Options
		want string
	}{
		{gavel.DefaultOptions(), ""},
		{gavel.Options{Objective: gavel.Sum, Rules: gavel.Paper}, ""},
		{gavel.Options{Objective: gavel.Sum, Rules: gavel.PublicCode, Reset: time.Second, Loss: time.Second}, ""},
		{gavel.Options{Objective: gavel.Sum, Rules: gavel.Paper, Reset: time.Second}, "reset 1s and loss 0s with rules paper, but both need rules public-code"},
		{gavel.Options{Objective: gavel.Sum, Rules: gavel.Paper, Loss: time.Second}, "reset 0s and loss 1s with rules paper, but both need rules public-code"},
		{gavel.Options{Objective: "best", Alpha: 2, Rules: "mine", Reset: -1, Turn: -2}, `objective "best", want one of maxmin, sum, ftf, makespan, allox, stride
alpha 2, want 0 to 1
rules "mine", want paper, public-code or sia-code
reset -1ns, loss 0s and turn -2ns, want at least 0s
reset -1ns and loss 0s with rules mine, but both need rules public-code`},
	} {
		got := ""
		if err := tc.o.Validate(); err != nil {
			got = err.Error()
		}
		if got != tc.want {
			t.Errorf("%+v: got %q, want %q", tc.o, got, tc.want)
		}
	}
}
