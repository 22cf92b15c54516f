package jobstate

import (
	"fmt"
	"testing"
)

// all are the facts that a Look may find.
const all = Waits<<1 - 1

// possible reports whether facts can be true together: what starts a job, or is planned of it, needs GPUs in the plan.
func possible(f Facts) bool {
	return f&(Planned|Started|Fits) == 0 || f&Holds != 0
}

// decide says once more, in the words of the executor, what a Look of a job comes to.
func decide(p Phase, f Facts) Action {
	has := func(x Facts) bool { return f&x != 0 }
	holds, waits := has(Holds) && !p.Over(), has(Waits)
	started := holds && has(Started)
	switch {
	case p == Ended, has(Unseen), waits && has(Failed):
		return Nothing
	case has(Runs) && (!holds || !has(Planned)):
		if has(MayEnd) {
			return Nothing
		}
		return Stop
	case has(Late) && !started:
		if !waits && !has(Leftover) && holds && has(Fits) {
			return Resume
		}
		return Fence
	case waits, !holds, has(Leftover):
		return Nothing
	case !started:
		return Start
	case has(Runs) && has(Outlived):
		return Close
	case has(Lacking):
		return Ask
	case has(Evicted):
		return Readmit
	case has(Runs) && has(TooLong):
		return Shrink
	case has(Runs) && has(TooFew):
		return Grow
	}
	return Pin
}

// Every phase, event and set of facts is tried: what is done is what the executor's words say, and the invariants hold.
func TestNext(t *testing.T) {
	for p := Waiting; p <= Ended; p++ {
		for f := Facts(0); f <= all; f++ {
			if !possible(f) {
				continue
			}
			to, do := Next(p, Look, f)
			if want := decide(p, f); do != want {
				t.Fatalf("%v, facts %b: action %d, want %d", p, f, do, want)
			}
			if broken := invariant(p, to, do, f); broken != "" {
				t.Fatalf("%v, facts %b: phase %v, action %d: %s", p, f, to, do, broken)
			}
			if again, _ := Next(to, Look, f); again != to {
				t.Fatalf("%v, facts %b: phase %v, and then %v without any change", p, f, to, again)
			}
		}
	}
}

// invariant returns what is wrong with a Look; empty: nothing.
func invariant(p, to Phase, do Action, f Facts) string {
	planned := f&Holds != 0 && !p.Over()
	switch {
	case p == Ended && (to != Ended || do != Nothing):
		return "an end is final"
	case p.Over() && to != p, !p.Over() && to.Over():
		return "no look loses or ends a job"
	case f&Unseen != 0 && (to != p || do != Nothing):
		return "the last write is not seen"
	case !planned && do != Nothing && do != Stop && do != Fence:
		return "it holds no GPUs"
	case (do == Start || do == Resume) && f&(Leftover|Started|Waits) != 0:
		return "it starts where pods are left, a second time, or too soon"
	case do == Stop && (f&Runs == 0 || planned && f&Planned != 0 || f&MayEnd != 0):
		return "it stops, and need not"
	case planned && f&Unseen == 0 && to == Waiting:
		return "it waits with GPUs"
	}
	return ""
}

// Every other event moves a job as this table says: Grant, Commit, GiveUp, and Hear of a job with GPUs, and Hear of one without.
func TestNext_events(t *testing.T) {
	for p, row := range [...]string{
		Waiting:   "Pending Waiting Lost Vacated|Waiting",
		Pending:   "Pending Pending Lost Vacated|Pending",
		Queued:    "Pending Queued Lost Vacated|Queued",
		Starting:  "Pending Starting Lost Vacated|Starting",
		Running:   "Pending Running Lost Vacated|Running",
		Resizing:  "Pending Resizing Lost Vacated|Resizing",
		Closing:   "Pending Closing Lost Vacated|Closing",
		Finishing: "Pending Finishing Lost Vacated|Finishing",
		Stopping:  "Pending Stopping Lost Vacated|Stopping",
		Draining:  "Pending Draining Lost Vacated|Draining",
		Fencing:   "Pending Fencing Lost Vacated|Fencing",
		Lost:      "Pending Lost Lost Vacated|Waiting",
		Vacated:   "Pending Waiting Vacated Vacated|Vacated",
		Ended:     "Ended Ended Ended Ended|Ended",
	} {
		p := Phase(p)
		to := func(ev Event, f Facts) Phase {
			next, do := Next(p, ev, f)
			if do != Nothing {
				t.Errorf("%v, %v: action %d, want none before a look", p, ev, do)
			}
			return next
		}
		got := fmt.Sprintf("%v %v %v %v|%v", to(Granted, Holds), to(Commit, Holds), to(GiveUp, Holds), to(Hear, Holds), to(Hear, 0))
		if got != row {
			t.Errorf("%v: %s, want %s", p, got, row)
		}
		if got := to(GiveUp, 0); got != p {
			t.Errorf("%v: given up without GPUs: %v", p, got)
		}
		if to(End, Holds) != Ended || to(End, 0) != Ended {
			t.Errorf("%v: it has ended, and is not Ended", p)
		}
	}
}

// A Look names the phase; the first row of the table that fits counts.
func TestNext_phases(t *testing.T) {
	const started = Holds | Planned | Started | Runs
	for _, c := range []struct {
		f    Facts
		want Phase
	}{
		{0, Waiting},
		{Runs, Stopping},
		{Runs | MayEnd, Finishing},
		{Holds | Runs, Stopping},
		{Leftover, Draining},
		{Holds | Leftover, Draining},
		{Holds, Pending},
		{Holds | Failed | Waits, Pending},
		{Holds | Late, Fencing},
		{Late, Fencing},
		{Holds | Planned | Started | Suspended | Evicted, Queued},
		{Holds | Planned | Started | Suspended, Queued},
		{started, Starting},
		{started | Lacking, Starting},
		{started | Up, Running},
		{started | Up | TooLong, Resizing},
		{started | TooFew, Resizing},
		{started | Up | Outlived, Closing},
	} {
		if got, _ := Next(Running, Look, c.f); got != c.want {
			t.Errorf("facts %b: %v, want %v", c.f, got, c.want)
		}
	}
}
