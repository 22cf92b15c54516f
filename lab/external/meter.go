package external

import (
	"time"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// A Meter is a scheduler.Observer that sums the time from submission to end of all jobs: n jobs for t seconds are n·t
// job-seconds. The zero value is ready to use. A Meter is not safe for concurrent use.
type Meter struct {
	active  int
	at      time.Time
	seconds float64 // since Take
}

// Take returns the job-seconds from the last Take until now.
func (m *Meter) Take(now time.Time) float64 {
	m.advance(now)
	seconds := m.seconds
	m.seconds = 0
	return seconds
}

func (m *Meter) advance(now time.Time) {
	if !m.at.IsZero() && now.After(m.at) {
		m.seconds += float64(m.active) * now.Sub(m.at).Seconds()
	}
	if m.at.IsZero() || now.After(m.at) {
		m.at = now
	}
}

// Event implements scheduler.Observer.
func (m *Meter) Event(now time.Time, ev scheduler.Event) {
	m.advance(now)
	switch ev := ev.(type) {
	case scheduler.Submitted:
		m.active++
	case scheduler.Exited:
		if ev.Outcome != scheduler.Lost {
			m.active--
		}
	}
}

// Round implements scheduler.Observer.
func (m *Meter) Round(s *policy.Snapshot, _ *policy.Plan, _ []scheduler.Action) { m.advance(s.Now) }

// Rest returns the job-seconds from the last Take until the last event.
func (m *Meter) Rest() float64 { return m.Take(m.at) }
