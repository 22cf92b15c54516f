package explain

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler/journal"
)

// Life reads from a journal why the GPUs of job id changed and how its time was spent. r must be at its first record.
// If the journal is truncated, Story.Note states this. Life returns an *UnknownJobError if the journal lacks the job.
func Life(r *journal.Reader, id job.ID) (*Story, error) {
	t := newJournalReader(r.Header(), id)
	if err := t.listen(r, func(time.Duration) {}); err != nil {
		return nil, fmt.Errorf("explain: %w", err)
	}
	return &Story{Job: id, Policy: t.policy, Asked: asked(t.state.spec, t.preemption), Changes: t.changes, Totals: &t.totals, Note: noted(r.Sealed(), t.note)}, nil
}

// At explains the state of job id at a time since the start of the recording, after all records of that time, and what
// happened next. r must be at its first record.
func At(r *journal.Reader, id job.ID, at time.Duration) (*Story, error) {
	at = max(at, 0)
	t := newJournalReader(r.Header(), id)
	then, err := t.until(r, at)
	if err != nil {
		return nil, fmt.Errorf("explain: %w", err)
	}
	story := t.story(then, at)
	story.Note = noted(r.Sealed(), story.Note)
	return story, nil
}

func (t *journalReader) story(then *snapshot, at time.Duration) *Story {
	story := &Story{Job: t.id, Policy: t.policy, Asked: asked(t.state.spec, t.preemption), Note: t.note}
	if then == nil {
		then = t.snapshot()
		if at > t.now && t.note == "" && !then.state.phase.Terminal() {
			story.Note = fmt.Sprintf("The recording ends at %s; this is the state at its end.", clock(t.now))
		}
		if !then.state.phase.Terminal() {
			at = min(at, t.now)
		}
	}
	story.Moment = t.moment(then, at)
	return story
}

// A LiveState is what only a running scheduler knows about a job, and its journal does not.
type LiveState struct {
	At         time.Duration // now, since the start of the recording
	Up         bool          // the job's processes run, although its program has not reported yet
	Preemption Preemption
}

// A Preemption is the reason, if any, why a job must not be preempted.
type Preemption uint8

// The reasons, if the job must not be preempted.
const (
	NotKnown  Preemption = iota // no reason known
	Forbidden                   // submitted with --no-preempt
	NotYet                      // the job's program has not connected yet
)

// Live explains the present state of job id under a running scheduler, from its journal and seen. r must be at its
// first record.
func Live(r *journal.Reader, id job.ID, seen LiveState) (*Story, error) {
	t := newJournalReader(r.Header(), id)
	t.preemption = seen.Preemption
	then, err := t.until(r, seen.At)
	if err != nil {
		return nil, fmt.Errorf("explain: %w", err)
	}
	if then == nil {
		then = t.snapshot()
	}
	if seen.Up && then.state.phase == job.Restoring {
		then.state.phase = job.Running
	}
	story := &Story{Job: id, Policy: t.policy, Asked: asked(t.state.spec, seen.Preemption), Moment: t.moment(then, seen.At)}
	story.Moment.Next, story.Moment.NextAt, story.Moment.Live = "", nil, true
	story.Note = noted(r.Sealed(), "")
	return story, nil
}

func (t *journalReader) until(r *journal.Reader, at time.Duration) (then *snapshot, err error) {
	err = t.listen(r, func(next time.Duration) {
		if then == nil && next > at {
			then = t.snapshot()
		}
	})
	return then, err
}

func noted(sealed bool, note string) string {
	switch {
	case sealed:
		return note
	case note == "":
		return journal.Unverified
	}
	return note + " " + journal.Unverified
}

type snapshot struct {
	state   state
	row     *row // nil: not submitted, or ended
	context explainContext
	at      time.Duration
	changes int
	lost    float64 // GPU-hours that earlier starts took
}

func (t *journalReader) snapshot() *snapshot {
	s := &snapshot{state: t.state, changes: len(t.changes), lost: t.totals.LostHours, at: t.now, context: explainContext{view: t.view()}}
	if r := t.jobs[t.id]; r != nil {
		row := *r
		s.row, s.context = &row, t.contextOf(r, t.now)
	}
	return s
}

func (t *journalReader) moment(then *snapshot, at time.Duration) *Moment {
	m := &Moment{At: journal.Seconds(at), Phase: notSubmitted, Cluster: &then.context.view}
	t.next(m, then, at)
	then.context.freed.later(at - then.at)
	then.context.preemption = t.preemption
	if then.state.spec == nil {
		came := time.Duration(t.totals.Submitted)
		m.Sentence = fmt.Sprintf("%s had not been submitted yet. It was submitted %s later.", t.id, passed(at, came))
		return m
	}
	since := journal.Seconds(then.state.since)
	m.Since, m.Before, m.Takers, m.Lost = &since, holding(then.state.before), then.state.takers, then.state.lost
	phase := then.state.phase
	if phase.Terminal() {
		m.Phase, m.Ended = phase.String(), true
		m.Sentence = fmt.Sprintf("%s %s %s ago%s", t.id, ended[phase], passed(then.state.since, at), then.state.detail)
		if !strings.Contains(then.state.detail, "\n") {
			m.Sentence += "."
		}
		if t.totals.Ended == nil {
			m.Since, m.Sentence = nil, fmt.Sprintf("%s %s before this recording begins.", t.id, ended[phase])
		}
		return m
	}
	if phase == job.Waiting && t.profiling(then) {
		phase = job.Profiling
	}
	m.Phase, m.Holds = phase.String(), holding(then.row.holds)
	if m.Holds != nil {
		m.Holds.CPUs, m.Holds.Memory = then.row.holds.CPUs, then.row.holds.Memory
	}
	if then.row.ruled {
		m.Reason, m.Best, m.Details = then.row.why.Kind.String(), best(then.row.why), then.context.details()
	}
	if m.LostHours, m.Starts = then.lost, then.state.starts; phase == job.Restoring {
		m.LostHours += float64(then.row.holds.AllGPUs()) * max(0, at-then.state.train).Hours()
	}
	m.Sentence = t.sentence(then, phase, passed(then.state.since, at))
	m.setChanged(then, at)
	return m
}

func (m *Moment) setChanged(then *snapshot, at time.Duration) {
	s := &then.state
	if s.lost != "" {
		m.lostAgo = "lost " + passed(s.lostAt, at) + " ago" + s.lostHow
	}
	m.resumed = s.last.what == Resumed
	stated := s.phase == job.Restoring || s.phase == job.Running && then.settled() || then.context.gave && s.last.what == Preempted
	if s.last.what != "" && !stated {
		m.changed = s.last.text(passed(s.last.at, at)+" ago") + s.last.takers
	}
}

const notSubmitted = "not submitted"

var ended = map[job.Phase]string{job.Completed: "completed", job.Failed: "failed", job.Cancelled: "was cancelled"}

func best(why policy.Reason) *Holding {
	if k := why.Kind; k == policy.WaitPrice || k == policy.KeptNoRestart || k == policy.AsPlanned && why.Limit > 0 {
		return holding(cluster.Allocation{Configuration: why.Config})
	}
	return nil
}

func (t *journalReader) profiling(then *snapshot) bool {
	if then.row.why.Kind == policy.WaitProfile {
		return true
	}
	for _, c := range t.changes[then.changes:] {
		if c.What == Profiled {
			return !then.row.ruled
		}
	}
	return false
}

// Undecided is the sentence printed for a job that no round has considered yet.
const Undecided = "the next round decides on it"

func (t *journalReader) sentence(then *snapshot, phase job.Phase, length string) string {
	held := both(then.row.holds)
	then.context.trains = phase == job.Running
	because := Undecided
	if then.row.ruled {
		because = then.context.because()
	}
	if phase == job.Profiling {
		if !then.row.ruled {
			then.context.why.Kind = policy.WaitProfile
			because = then.context.because()
		}
		return fmt.Sprintf("%s has been in profiling for %s: %s.", t.id, length, because)
	}
	last := &then.state.last
	if phase == job.Restoring && then.settled() {
		return fmt.Sprintf("%s %s %s ago because %s. It %s.", t.id, last.got(held), length, last.reason+last.takers, starting(then.state.starts))
	}
	if phase == job.Restoring {
		return fmt.Sprintf("%s %s %s ago and %s: %s.", t.id, last.got(held), length, starting(then.state.starts), because)
	}
	if phase == job.Running && then.settled() {
		return fmt.Sprintf("%s has been running on %s for %s. It %s because %s.", t.id, held, length, last.since, last.reason+last.takers)
	}
	if phase == job.Running {
		return fmt.Sprintf("%s has been running on %s for %s: %s.", t.id, held, length, because)
	}
	if by, ok := strings.CutPrefix(because, "preempted: "); ok {
		return fmt.Sprintf("%s was preempted %s ago: %s.", t.id, length, by)
	}
	return fmt.Sprintf("%s has been waiting %s: %s.", t.id, length, because)
}

func (t *journalReader) end(at time.Duration) string {
	if t.now <= at {
		return "its record ends here"
	}
	return "its record ends " + passed(at, t.now) + " later"
}

// settled reports whether a job has its GPUs only because nothing has changed since it got them.
func (then *snapshot) settled() bool {
	if !then.row.ruled || then.context.gave || then.state.last.since == "" {
		return false
	}
	switch why := then.context.reason(); then.row.why.Kind {
	case policy.AsPlanned:
		return why == keepsGPUs
	case policy.Started:
		return true
	case policy.PinnedRestore:
		return then.state.phase == job.Restoring
	default:
		return why == then.state.last.reason
	}
}

func (e *event) got(held string) string {
	if e.what == Started || e.what == Resumed || e.verb == "" {
		return "got " + held
	}
	if strings.Contains(e.verb, ",") {
		return e.verb + ","
	}
	return e.verb
}

func starting(starts int) string {
	if starts > 1 {
		return "is restarting"
	}
	return "is starting"
}

// next sets the first change after a moment that matters: the start of a waiting job, else any change or the
// end.
func (t *journalReader) next(m *Moment, then *snapshot, at time.Duration) {
	waiting := then.row != nil && then.row.holds.IsZero()
	for _, c := range t.changes[then.changes:] {
		if waiting && c.What == Waits || c.What == Profiled {
			continue
		}
		m.NextAt = &c.At
		what := event{verb: cmp.Or(c.event.verb, "was "+string(c.What)), reason: c.event.reason}
		m.Next = "its record shows that " + what.text(passed(at, time.Duration(c.At))+" later")
		return
	}
	switch {
	case then.state.phase.Terminal():
	case waiting:
		m.Next = t.end(at) + ", without a start"
	default:
		m.Next = t.end(at) + ", without a change"
	}
}

func (h *Holding) text() string {
	what := both(h.allocation())
	if h != nil && (h.CPUs > 0 || h.Memory > 0) {
		cores := fmt.Sprintf("%.4g cores", h.CPUs)
		if h.CPUs == 1 {
			cores = "1 core"
		}
		what += fmt.Sprintf(", %s and %s of memory", cores, gibibytes(float64(h.Memory)))
	}
	return what
}

func (h *Holding) allocation() cluster.Allocation {
	var a cluster.Allocation
	if h == nil {
		return a
	}
	a.Configuration = cluster.Configuration{Nodes: h.Nodes, GPUs: h.GPUs, GPUType: h.Type}
	a.Also = h.Also.allocation().Configuration
	return a
}
