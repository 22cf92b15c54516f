package local

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/live/supervisor"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// A ledger is what is true, whatever the scheduler believes, and what it has promised.
type ledger struct {
	truth    map[job.ID]*truth
	accepted []job.ID // whose Submit returned
	heard    map[job.ID]time.Time

	lastRound time.Time
	hurried   int       // rounds in a row that came early
	delayed   time.Time // when a full disk last kept the scheduler from something
	muteUntil time.Time
	fullNow   bool
	hung      bool
	notices   map[string]noticed
	reports   map[job.Report]int // the start of the scheduler that last took it
}

// A truth is what is true of a job.
type truth struct {
	generation   int       // the last that was begun
	starts       int       // of its workers
	saved        int       // step of its last checkpoint
	acknowledged int64     // step of the last checkpoint that the scheduler acknowledged
	final        bool      // the scheduler has said, durably, that it has ended
	completed    bool      // its program has, and this is written
	failed       int       // generations that failed, or were lost
	cancelling   bool      // its user has asked for its end
	lostAt       time.Time // when the scheduler counted its last failure
	lostIn       int       // the scheduler's start in which it did
	row          int       // failures in a row, as the scheduler must count them
	planned      int       // highest generation that a committed plan had
	firm         []int     // slots of a job that cannot be preempted; nil: it holds none, or can
	firmFailed   int       // generations that had failed by then
}

// A noticed is a notice that was written.
type noticed struct {
	at, deadline time.Time
	life         int
}

func newLedger() ledger {
	return ledger{truth: map[job.ID]*truth{}, heard: map[job.ID]time.Time{}, notices: map[string]noticed{}, reports: map[job.Report]int{}}
}

func (m *simulation) truthOf(id job.ID) *truth {
	if m.truth[id] == nil {
		m.truth[id] = new(truth)
	}
	return m.truth[id]
}

// checkStart checks what must be true when a generation is begun.
func (m *simulation) checkStart(k *simKeeper) {
	t := m.truthOf(k.g.Job)
	for _, o := range m.running() {
		if o.g.Job == k.g.Job {
			m.fail("I4: %v starts while %v lives", k, o)
		}
		for _, s := range o.slots {
			for _, mine := range k.slots {
				if s == mine {
					m.fail("I1: %v starts on slot %d, on which %v is", k, s, o)
				}
			}
		}
	}
	switch {
	case k.g.Number <= t.generation:
		m.fail("I17: %v starts, and generation %d was begun before", k, t.generation)
	case t.final:
		m.fail("I15: %v starts, and its job has ended", k)
	case t.completed:
		m.fail("I15: %v starts, and its program is done", k)
	case t.lostIn == m.life && time.Since(t.lostAt) < backoff<<t.row:
		m.fail("I21: %v starts %v after failure %d, want %v at least", k, time.Since(t.lostAt), t.row, backoff<<t.row)
	}
	t.generation = max(t.generation, k.g.Number)
}

// noteEnd notes that a supervisor has written how its generation ended.
func (m *simulation) noteEnd(k *simKeeper) {
	t := m.truthOf(k.g.Job)
	if k.exits[0].OK() {
		t.completed = true
	} else {
		t.failed++
	}
}

// noteDeath notes that a supervisor has died. If its workers had ended before, their holders have written how.
func (m *simulation) noteDeath(k *simKeeper) {
	if k.exits != nil && !k.unheld {
		m.meet(metHeld)
		m.noteEnd(k)
		return
	}
	m.truthOf(k.g.Job).failed++
}

// noteFinal notes that the scheduler has said that a job has ended.
func (m *simulation) noteFinal(id job.ID) { m.truthOf(id).final = true }

// synced checks notices as they are written.
func (m *simulation) synced(path string) {
	if !strings.HasPrefix(filepath.Base(path), "notice.json.") {
		return
	}
	text, err := os.ReadFile(path)
	var n supervisor.Notice
	if err == nil {
		err = n.UnmarshalJSON(text)
	}
	now, dir := time.Now(), filepath.Dir(path)
	was, twice := m.notices[dir]
	m.notices[dir] = noticed{now, n.Deadline, m.life}
	switch {
	case err != nil:
		m.fail("notice: %v", err)
	case n.Deadline.Sub(now) < m.o.Grace-time.Second:
		m.fail("a notice of %v, want %v", n.Deadline.Sub(now), m.o.Grace)
	case twice && was.life == m.life && m.delayed.Before(was.at):
		m.fail("%s is given notice twice, at %v and at %v", filepath.Base(dir), m.since(was.at), m.since(now))
	}
}

// checkKill checks that a supervisor is killed only after its deadline, which notices have to the
// microsecond.
func (m *simulation) checkKill(k *simKeeper) {
	n, given := m.notices[k.dir]
	if !given || time.Now().Before(n.deadline.Add(overdue-time.Microsecond)) {
		m.fail("the supervisor of %v is killed without notice, or before its deadline", k)
	}
}

// checkOpen checks what a scheduler knows that was started again.
func (m *simulation) checkOpen() {
	all, err := m.store.Jobs(true)
	if err != nil {
		m.fail("jobs: %v", err)
		return
	}
	known := map[job.ID]*store.Job{}
	for _, j := range all {
		known[j.Spec.ID] = j
	}
	for _, id := range m.accepted {
		t, j := m.truth[id], known[id]
		switch {
		case j == nil:
			m.fail("I15: job %s was accepted, and is lost", id)
		case t.final && j.Ended == nil:
			m.fail("I15: the end of job %s was recorded, and is lost", id)
		case j.Generation < t.planned:
			m.fail("I17: job %s is at generation %d, and was at %d", id, j.Generation, t.planned)
		case j.Ended == nil && t.acknowledged > 0 && (j.Checkpoint == nil || j.Checkpoint.Step < t.acknowledged):
			m.fail("I5: job %s: checkpoint %+v, and step %d was acknowledged", id, j.Checkpoint, t.acknowledged)
		}
	}
}

// checkTable checks what the scheduler believes against what is true.
func (m *simulation) checkTable() {
	holder := map[int]job.ID{}
	for _, e := range m.w.jobs.Order {
		t := m.truthOf(e.Spec.ID)
		if e.Over {
			t.final = true
			continue
		}
		if t.final {
			m.fail("I15: job %s has ended, and is live again", e.Spec.ID)
		}
		if e.Generation < t.planned {
			m.fail("I17: job %s: generation %d after %d", e.Spec.ID, e.Generation, t.planned)
		}
		t.planned = e.Generation
		m.checkFirm(e, t)
		if e.Failures > t.row {
			t.lostAt, t.lostIn = time.Now(), m.life
		}
		t.row = e.Failures
		for _, s := range e.Held {
			if holder[s] != "" {
				m.fail("I1: slot %d is planned for %s and for %s", s, holder[s], e.Spec.ID)
			}
			holder[s] = e.Spec.ID
		}
	}
	for _, k := range m.keepers {
		if e := m.w.jobs.ByID[k.g.Job]; k.on() && (e == nil || e.run(k.g.Number) == nil) {
			m.fail("I14: %v has processes, and the scheduler has forgotten it", k)
		}
		if n, given := m.notices[k.dir]; given && k.on() && n.life == m.life && time.Since(n.deadline) > overdue+2*time.Second && time.Since(m.delayed) > overdue && !m.fullNow {
			m.fail("%v lives %v after its deadline", k, time.Since(n.deadline))
		}
	}
}

// checkFirm checks that a job that cannot be preempted keeps the slots that it has, unless it fails.
func (m *simulation) checkFirm(e *entry, t *truth) {
	stays := e.Spec.NonPreemptive && t.firm != nil && t.failed == t.firmFailed
	if stays && !slices.Equal(e.Held, t.firm) {
		m.fail("I6: job %s cannot be preempted, and holds %v after %v", e.Spec.ID, e.Held, t.firm)
	}
	if stays {
		m.meet(metFirm)
	}
	t.firm, t.firmFailed = nil, t.failed
	if e.Spec.NonPreemptive && len(e.Held) > 0 {
		t.firm = slices.Clone(e.Held)
	}
}

// checkRound checks that rounds come as often as they should: none is missing, none is caught up.
func (m *simulation) checkRound() {
	now := time.Now()
	if gap := now.Sub(m.lastRound); (gap > 2*simRound || gap < simRound/2) && now.Sub(m.delayed) > 3*simRound && !m.fullNow {
		m.fail("I21: a round %v after the last one, want %v", gap, simRound)
	}
	if m.hurried++; now.Sub(m.lastRound) >= simRound/2 {
		m.hurried = 0
	}
	if m.hurried > 1 {
		m.fail("I21: rounds that were not made are caught up: %d in a row", m.hurried)
	}
	m.lastRound = now
}

// A watcher checks rounds, after the backend has seen them.
type watcher struct{ m *simulation }

// Event implements scheduler.Observer: a scheduler takes each report once, whether it comes from the
// store or from an agent. Each is unlike all others of its job.
func (c watcher) Event(_ time.Time, ev scheduler.Event) {
	switch ev := ev.(type) {
	case scheduler.Restored:
		for i := range ev.Reports {
			c.m.takes(&ev.Reports[i])
		}
	case scheduler.Reported:
		c.m.takes(&ev.Report)
	}
}

// takes checks that this scheduler has not taken a report before.
func (m *simulation) takes(r *job.Report) {
	if r.Interval > 0 && m.reports[*r] == m.life {
		m.fail("I23: a report of job %s is taken twice: progress %v", r.Job, r.Progress)
	}
	m.reports[*r] = m.life
}

// Round implements scheduler.Observer.
func (c watcher) Round(s *policy.Snapshot, _ *policy.Plan, _ []scheduler.Action) {
	m, now := c.m, time.Now()
	for _, e := range m.w.jobs.Order {
		quiet := now.Sub(m.heard[e.Spec.ID])
		if !e.Over && e.current() != nil && !e.Heard.IsZero() && quiet > m.o.Silence+simRound && now.Sub(e.Heard) > m.o.Silence && !e.Silent {
			m.fail("job %s has been silent for %v, and is not taken for rigid", e.Spec.ID, quiet)
		}
	}
	for _, j := range s.Jobs {
		if e := m.w.jobs.ByID[j.ID]; e == nil {
			m.fail("I15: the scheduler plans for job %s, which has ended", j.ID)
		}
	}
}

// checkEnd checks how all jobs ended.
func (m *simulation) checkEnd() {
	all, err := m.store.Jobs(true)
	if err != nil {
		m.fail("jobs: %v", err)
		return
	}
	ended := map[job.ID]*store.Ending{}
	for _, j := range all {
		ended[j.Spec.ID] = j.Ended
	}
	for _, id := range m.accepted {
		m.checkEnding(id, ended[id])
	}
	for _, k := range m.running() {
		m.fail("I14: %v has processes, and all jobs have ended", k)
	}
}

func (m *simulation) checkEnding(id job.ID, e *store.Ending) {
	t := m.truth[id]
	switch {
	case e == nil:
		m.fail("I15: job %s has not ended, and the scheduler says that all have", id)
	case e.Outcome == scheduler.Done && !t.completed:
		m.fail("I15: job %s is said to be done, and its program is not", id)
	case e.Outcome == scheduler.Failed && t.failed == 0:
		m.fail("I15: job %s is said to have failed (%s), and nothing of it has", id, e.Detail)
	case e.Outcome == scheduler.Cancelled && !t.cancelling:
		m.fail("I15: job %s is said to be cancelled, and nobody did", id)
	}
}

// left says which jobs have not ended.
func (m *simulation) left() string {
	if m.w == nil {
		return "the scheduler does not run"
	}
	var all []string
	for _, e := range m.w.jobs.Order {
		all = append(all, fmt.Sprintf("%s (generation %d, holds %v, runs %d, ended %v, lost %v)", e.Spec.ID, e.Generation, e.Held, len(e.runs), e.Over, e.Lost))
	}
	return strings.Join(all, ", ")
}
