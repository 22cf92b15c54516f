package gavel_test

import (
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy/policytest"
	"github.com/oxgang/oxgang/policy/rivals/gavel"
)

// However often plans are made, a job that was chosen keeps its GPUs for a turn: one that is
// stopped before it has restarted gets nothing done. Gavel §5 has rounds of six minutes.
func TestTurns_are_no_shorter_than_six_minutes(t *testing.T) {
	for _, tc := range []struct {
		round, turn time.Duration
		want        string // who runs; of those to whom as much is owed, who ran last
	}{
		{time.Minute, gavel.DefaultOptions().Turn, "aaaaaabbbbbbbbbbbbaaaaaa"},
		{2 * time.Minute, gavel.DefaultOptions().Turn, "aaabbbbbbaaa"},
		{6 * time.Minute, gavel.DefaultOptions().Turn, "abba"},
		{10 * time.Minute, gavel.DefaultOptions().Turn, "abba"},
		{time.Minute, 0, "abba"},
	} {
		w := newTestCluster(t, 1, 1)
		w.length = tc.round
		endless(w.submit("a", 1, 1))
		endless(w.submit("b", 1, 1))
		p := fresh(t, func(o *gavel.Options) { o.Turn = tc.turn })
		if got := strings.Join(w.runs(p, len(tc.want)), ""); got != tc.want {
			t.Errorf("rounds of %v, turns of %v: %s ran, want %s", tc.round, tc.turn, got, tc.want)
		}
	}
}

// GPUs that nobody holds are given out within a turn, also to jobs that came in it.
func TestTurns_leave_no_GPU_idle(t *testing.T) {
	w := newTestCluster(t, 2, 1)
	w.length = time.Minute
	endless(w.submit("a", 1, 1))
	p := fresh(t, nil)
	got := w.runs(p, 2)
	endless(w.submit("b", 1, 1))
	got = append(got, w.runs(p, 1)...)
	endless(w.submit("c", 1, 1))
	got = append(got, w.runs(p, 3)...)
	if s := strings.Join(got, " "); s != "a a ab ab ab ab" {
		t.Errorf("%s ran, want b from when it came, and c after the turn", s)
	}
	if s := strings.Join(w.runs(p, 1), ""); !strings.Contains(s, "c") {
		t.Errorf("%s ran when the turn was over, want c in it: most is owed to it", s)
	}
}

// The copy of Gavel in Sia's simulator serves by fraction over all that a job ever had: one that
// comes later is served until it has had as much.
func TestSiaCode_newcomers_catch_up(t *testing.T) {
	w := newTestCluster(t, 1, 1)
	w.length = 6 * time.Minute
	endless(w.submit("a", 1, 1))
	p := fresh(t, func(o *gavel.Options) { o.Rules = gavel.SiaCode })
	got := w.runs(p, 4)
	endless(w.submit("b", 1, 1))
	got = append(got, w.runs(p, 6)...)
	if s := strings.Join(got, ""); s != "aaaabbbbab" && s != "aaaabbbbba" {
		t.Errorf("%s ran, want b four times when it came, and then in turn", s)
	}
}

// Of gangs that AlloX matched and that do not fit beside one another, one runs until it is done:
// they would take turns else, and where a restart is longer than a turn nobody would ever end.
func TestAlloX_gangs_do_not_take_turns(t *testing.T) {
	o := gavel.DefaultOptions()
	o.Objective = gavel.AlloX
	p, err := gavel.New(o)
	if err != nil {
		t.Fatal(err)
	}
	w := policytest.NewToy(t, 4)
	for _, id := range []job.ID{"a", "b", "c"} {
		w.Submit(id, 3, 30*time.Minute)
	}
	changes, last := 0, ""
	for range 95 {
		w.Play(p)
		if now := w.GPUs(); now != last {
			changes, last = changes+1, now
		}
	}
	if len(w.Ends) != 3 || changes > 6 {
		t.Errorf("%d of 3 ended, who runs changed %d times; want all, and as one ends and as the next starts", len(w.Ends), changes)
	}
}
