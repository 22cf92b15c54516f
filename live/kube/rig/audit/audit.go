package audit

import (
	"fmt"
	"time"
)

// A Check holds one invariant. It is told of every change, in order, with the state after it,
// and may keep what it needs of those before.
type Check interface {
	Name() string
	See(s *State, c *Change) []Finding
}

// An Ender is a check of which some findings are known only by the clock: End is asked when
// there is no further change, with the time of the end in s.
type Ender interface{ End(s *State) []Finding }

// All returns every check, with the bounds that a cluster of a test has: generations are let
// go within start, and an over-full node is relieved within repair.
func All(start, repair time.Duration) []Check {
	return []Check{
		&Capacity{}, &Pinned{}, &Repair{Within: repair}, &Generations{}, &Gang{Within: start},
		&NonPreemptible{}, &Plans{}, &Epochs{}, &Fence{}, &EndsOnce{}, &Tenancy{}, &Most{}, &Vacated{},
		Loan{},
	}
}

// An Auditor holds checks against a history. It is for one goroutine.
type Auditor struct {
	State    *State
	Log      Log
	Findings []Finding
	checks   []Check
}

// New returns an auditor of a history that has not begun.
func New(checks ...Check) *Auditor { return &Auditor{State: NewState(), checks: checks} }

// See takes the next write, an object's new version or its end (nil), and asks the checks.
// It returns an error for a history that goes backwards.
func (a *Auditor) See(revision int64, at time.Time, k Key, o *Object) error {
	if revision < a.State.Revision {
		return fmt.Errorf("audit: revision %d after %d, want them in order", revision, a.State.Revision)
	}
	if at.Before(a.State.Time) {
		at = a.State.Time
	}
	c := &Change{Revision: revision, Time: at, Key: k, Old: a.State.Get(k), New: o}
	a.State.apply(c)
	a.Log.add(c)
	for _, k := range a.checks {
		a.Findings = append(a.Findings, k.See(a.State, c)...)
	}
	return nil
}

// End says that nothing was written until a time, and returns all findings.
func (a *Auditor) End(at time.Time) []Finding {
	if at.After(a.State.Time) {
		a.State.Time = at
	}
	for _, k := range a.checks {
		if e, ok := k.(Ender); ok {
			a.Findings = append(a.Findings, e.End(a.State)...)
		}
	}
	return a.Findings
}

// A timer remembers since when something is so of what.
type timer[K comparable] map[K]since

type since struct {
	at   time.Time
	told bool
}

// late notes whether something is so of k and says, once each time that it came to be so, that
// it has been for longer than a bound.
func (t timer[K]) late(k K, so bool, now time.Time, bound time.Duration) bool {
	was, ok := t[k]
	if !ok {
		was.at = now
	}
	late := (so || ok) && !was.told && now.Sub(was.at) > bound
	if !so {
		delete(t, k)
		return late
	}
	was.told = was.told || late
	t[k] = was
	return late
}
