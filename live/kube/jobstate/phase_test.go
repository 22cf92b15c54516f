package jobstate

import (
	"fmt"
	"testing"
)

// all are the facts that a Look may find.
const all = waits<<1 - 1

// possible reports whether facts can be true together: what starts a job, or is planned of it, needs GPUs in the plan.
func possible(f facts) bool {
	return f&(Planned|Started|fits) == 0 || f&holds != 0
}

// decide says once more, in the words of the executor, what a Look of a job comes to.
func decide(p Phase, f facts) Action {
	has := func(x facts) bool { return f&x != 0 }
	holds, waits := has(holds) && !p.over(), has(waits)
	started := holds && has(Started)
	switch {
	case p == ended, has(unseen), waits && has(failed):
		return Nothing
	case has(Runs) && (!holds || !has(Planned)):
		if has(mayEnd) {
			return Nothing
		}
		return Stop
	case has(late) && !started:
		if !waits && !has(leftover) && holds && has(fits) {
			return Resume
		}
		return Fence
	case waits, !holds, has(leftover):
		return Nothing
	case !started:
		return Start
	case has(Runs) && has(outlived):
		return Close
	case has(lacking):
		return Ask
	case has(evicted):
		return Readmit
	case has(Runs) && has(tooLong):
		return Shrink
	case has(Runs) && has(tooFew):
		return Grow
	}
	return Pin
}

// Every phase, event and set of facts is tried: what is done is what the executor's words say, and the invariants hold.
func TestNext(t *testing.T) {
	for p := waiting; p <= ended; p++ {
		for f := facts(0); f <= all; f++ {
			if !possible(f) {
				continue
			}
			to, do := next(p, Look, f)
			if want := decide(p, f); do != want {
				t.Fatalf("%v, facts %b: action %d, want %d", p, f, do, want)
			}
			if broken := invariant(p, to, do, f); broken != "" {
				t.Fatalf("%v, facts %b: phase %v, action %d: %s", p, f, to, do, broken)
			}
			if again, _ := next(to, Look, f); again != to {
				t.Fatalf("%v, facts %b: phase %v, and then %v without any change", p, f, to, again)
			}
		}
	}
}

// invariant returns what is wrong with a Look; empty: nothing.
func invariant(p, to Phase, do Action, f facts) string {
	planned := f&holds != 0 && !p.over()
	switch {
	case p == ended && (to != ended || do != Nothing):
		return "an end is final"
	case p.over() && to != p, !p.over() && to.over():
		return "no look loses or ends a job"
	case f&unseen != 0 && (to != p || do != Nothing):
		return "the last write is not seen"
	case !planned && do != Nothing && do != Stop && do != Fence:
		return "it holds no GPUs"
	case (do == Start || do == Resume) && f&(leftover|Started|waits) != 0:
		return "it starts where pods are left, a second time, or too soon"
	case do == Stop && (f&Runs == 0 || planned && f&Planned != 0 || f&mayEnd != 0):
		return "it stops, and need not"
	case planned && f&unseen == 0 && to == waiting:
		return "it waits with GPUs"
	}
	return ""
}

// Every other event moves a job as this table says: Grant, Commit, GiveUp, and Hear of a job with GPUs, and Hear of one without.
func TestNext_events(t *testing.T) {
	for p, row := range [...]string{
		waiting:   "Pending Waiting Lost Vacated|Waiting",
		pending:   "Pending Pending Lost Vacated|Pending",
		queued:    "Pending Queued Lost Vacated|Queued",
		starting:  "Pending Starting Lost Vacated|Starting",
		running:   "Pending Running Lost Vacated|Running",
		resizing:  "Pending Resizing Lost Vacated|Resizing",
		closing:   "Pending Closing Lost Vacated|Closing",
		finishing: "Pending Finishing Lost Vacated|Finishing",
		stopping:  "Pending Stopping Lost Vacated|Stopping",
		draining:  "Pending Draining Lost Vacated|Draining",
		fencing:   "Pending Fencing Lost Vacated|Fencing",
		Lost:      "Pending Lost Lost Vacated|Waiting",
		Vacated:   "Pending Waiting Vacated Vacated|Vacated",
		ended:     "Ended Ended Ended Ended|Ended",
	} {
		p := Phase(p)
		to := func(ev event, f facts) Phase {
			next, do := next(p, ev, f)
			if do != Nothing {
				t.Errorf("%v, %v: action %d, want none before a look", p, ev, do)
			}
			return next
		}
		got := fmt.Sprintf("%v %v %v %v|%v", to(Granted, holds), to(Commit, holds), to(GiveUp, holds), to(hear, holds), to(hear, 0))
		if got != row {
			t.Errorf("%v: %s, want %s", p, got, row)
		}
		if got := to(GiveUp, 0); got != p {
			t.Errorf("%v: given up without GPUs: %v", p, got)
		}
		if to(End, holds) != ended || to(End, 0) != ended {
			t.Errorf("%v: it has ended, and is not Ended", p)
		}
	}
}

// A Look names the phase; the first row of the table that fits counts.
func TestNext_phases(t *testing.T) {
	const started = holds | Planned | Started | Runs
	for _, c := range []struct {
		f    facts
		want Phase
	}{
		{0, waiting},
		{Runs, stopping},
		{Runs | mayEnd, finishing},
		{holds | Runs, stopping},
		{leftover, draining},
		{holds | leftover, draining},
		{holds, pending},
		{holds | failed | waits, pending},
		{holds | late, fencing},
		{late, fencing},
		{holds | Planned | Started | suspended | evicted, queued},
		{holds | Planned | Started | suspended, queued},
		{started, starting},
		{started | lacking, starting},
		{started | up, running},
		{started | up | tooLong, resizing},
		{started | tooFew, resizing},
		{started | up | outlived, closing},
	} {
		if got, _ := next(running, Look, c.f); got != c.want {
			t.Errorf("facts %b: %v, want %v", c.f, got, c.want)
		}
	}
}
