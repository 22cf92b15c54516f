package audit

import (
	"fmt"
	"time"
)

// A Check verifies one invariant. It receives every change, with the state after the change.
type Check interface {
	Name() string
	See(s *State, c *Change) []Finding
}

// An Ender is a Check that is also called once after the last change. s.Time is then the end of the history.
type Ender interface{ End(s *State) []Finding }

// All returns all checks for a test cluster. start limits how long a generation may take to start, repair how long a
// node may have more pods than capacity.
func All(start, repair time.Duration) []Check {
	return []Check{
		&Capacity{}, &Pinned{}, &Repair{Within: repair}, &Generations{}, &Gang{Within: start},
		&NonPreemptible{}, &Plans{}, &Epochs{}, &Fence{}, &EndsOnce{}, &Tenancy{}, &Most{}, &Vacated{},
		Loan{},
	}
}

// An Auditor applies checks to a history of writes. Only one goroutine may use it.
type Auditor struct {
	State    *State
	Log      Log
	Findings []Finding
	checks   []Check
}

// New returns an auditor for a new history.
func New(checks ...Check) *Auditor { return &Auditor{State: NewState(), checks: checks} }

// See processes the next write of the history: a new version of an object, or nil for its deletion.
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

// End processes the end of the history and returns all findings.
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

type timer[K comparable] map[K]since

type since struct {
	at       time.Time
	reported bool
}

// late returns true, once per period, when the condition has held for longer than bound.
func (t timer[K]) late(k K, so bool, now time.Time, bound time.Duration) bool {
	was, ok := t[k]
	if !ok {
		was.at = now
	}
	late := (so || ok) && !was.reported && now.Sub(was.at) > bound
	if !so {
		delete(t, k)
		return late
	}
	was.reported = was.reported || late
	t[k] = was
	return late
}
