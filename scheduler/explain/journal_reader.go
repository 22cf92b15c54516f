package explain

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/journal"
)

type journalReader struct {
	clusterState
	id      job.ID
	start   time.Time
	came    time.Duration // when the job was submitted; negative if before the recording
	state   state
	changes []Change
	totals  Totals
	note    string

	preemption Preemption
}

type state struct {
	spec      *job.Spec // nil: not submitted yet
	phase     job.Phase
	since     time.Duration // start of its wait, or of its present allocation
	before    cluster.Allocation
	takers    []Taker // of what it had before
	lost      string  // when and how a failure took what it had before; empty: none did
	lostAt    time.Duration
	lostHow   string
	last      event // the last change of its GPUs
	starts    int
	explained map[policy.Kind]bool // reasons of the present wait that have a change already
	train     time.Duration        // start of its time with GPUs and without training, while restoring
	detail    string               // how it ended, after a colon; may be empty
}

func newJournalReader(h journal.Header, id job.ID) *journalReader {
	return &journalReader{clusterState: newClusterState(h), id: id, start: h.Start}
}

func (t *journalReader) listen(r *journal.Reader, before func(at time.Duration)) error {
	for rec, err := range r.Records() {
		if errors.Is(err, journal.ErrTruncated) {
			t.note = cutOff(t.now)
			break
		}
		if err != nil {
			return err
		}
		before(rec.At)
		t.take(rec)
	}
	return t.over()
}

func (t *journalReader) over() error {
	if t.state.spec == nil {
		return &UnknownJobError{t.id, printable.Closest(t.id, t.ids)}
	}
	t.settle(t.now)
	return nil
}

func cutOff(now time.Duration) string {
	return fmt.Sprintf("The journal stops at %s without an end: its run crashed or still writes it. Later events are not known.", clock(now))
}

func (t *journalReader) take(rec journal.Record) {
	t.now = rec.At
	if rec.Round != nil {
		held := cluster.Allocation{}
		var on cluster.Placement
		if r := t.jobs[t.id]; r != nil {
			held, on = r.holds, r.on
		}
		t.clusterState.round(rec.Round)
		t.decided(rec.Round, held, on)
		return
	}
	if ev, ok := rec.Event.(scheduler.Exited); ok && ev.Job == t.id {
		t.exited(ev, t.jobs[t.id])
	}
	t.clusterState.event(rec.Event)
	switch ev := rec.Event.(type) {
	case scheduler.Submitted:
		if ev.Spec.ID == t.id {
			t.submitted(ev.Spec)
		}
	case scheduler.Described:
		if ev.Spec.ID == t.id {
			t.state.spec = ev.Spec
		}
	case scheduler.Restored:
		if ev.Spec.ID == t.id {
			t.restored(&ev)
		}
	case scheduler.Profiled:
		if ev.Job == t.id {
			t.profiled()
		}
	case scheduler.Reported:
		if ev.Job == t.id && !ev.Profile {
			t.trains(ev.Interval)
		}
	}
}

func (t *journalReader) happened(e event) {
	e.at = t.now
	t.state.last, t.changes[len(t.changes)-1].event = e, e
}

func (t *journalReader) add(what What, from, to cluster.Allocation, text string, why *explainContext) {
	c := Change{At: journal.Seconds(t.now), What: what, From: holding(from), To: holding(to), Text: text}
	if why != nil {
		c.Reason, c.Details = why.why.Kind.String(), why.details()
		c.Text += why.reason()
	}
	t.changes = append(t.changes, c)
}

func (t *journalReader) submitted(spec *job.Spec) {
	t.state = state{spec: spec, phase: job.Waiting, since: t.now, explained: map[policy.Kind]bool{}}
	t.came, t.totals.Submitted = t.now, journal.Seconds(t.now)
	t.add(Submitted, cluster.Allocation{}, cluster.Allocation{}, "submitted, asking for "+asked(spec, NotKnown), nil)
}

func (t *journalReader) restored(ev *scheduler.Restored) {
	st := &ev.Status
	t.state = state{spec: ev.Spec, phase: st.Phase, since: t.now, train: t.now, starts: st.Restarts, explained: map[policy.Kind]bool{}}
	if !st.FirstStarted.IsZero() {
		t.state.starts++
	}
	if !st.Since.IsZero() && !st.Phase.Terminal() {
		t.state.since = min(t.now, st.Since.Sub(t.start))
	}
	t.came = st.Submitted.Sub(t.start)
	t.totals.Submitted = journal.Seconds(t.now)
	t.totals.Restarts = st.Restarts
	before := "before this recording begins"
	if st.Phase.Terminal() {
		t.totals.Outcome = st.Phase.String()
		before = t.totals.Outcome + " " + before
	}
	t.add(Submitted, cluster.Allocation{}, st.Allocation, "known since "+st.Submitted.UTC().Format(time.DateTime)+" UTC, "+before+"; asking for "+asked(ev.Spec, NotKnown), nil)
}

func (t *journalReader) profiled() {
	s := &t.state
	if s.phase.Terminal() || s.starts > 0 || s.spec == nil {
		return
	}
	t.totals.Profiling += journal.Seconds(t.now - s.since)
	t.add(Profiled, cluster.Allocation{}, cluster.Allocation{}, "profiled on one GPU of each type, which took "+passed(s.since, t.now), nil)
	s.phase, s.since = job.Waiting, t.now
	clear(s.explained)
}

// trains handles a report of training. The first one after a start shows that the start was over when its
// interval began.
func (t *journalReader) trains(interval time.Duration) {
	if t.state.phase != job.Restoring {
		return
	}
	t.state.phase = job.Running
	t.lose(max(t.state.train, t.now-interval))
}

func (t *journalReader) lose(until time.Duration) {
	if r := t.jobs[t.id]; r != nil {
		t.totals.LostHours += float64(r.holds.AllGPUs()) * (until - t.state.train).Hours()
		t.state.train = until
	}
}

func (t *journalReader) settle(now time.Duration) {
	s := &t.state
	r := t.jobs[t.id]
	if r == nil || s.spec == nil {
		return
	}
	length := now - s.since
	switch {
	case !r.holds.IsZero():
		t.totals.Holding += journal.Seconds(length)
		t.totals.GPUHours += float64(r.holds.AllGPUs()) * length.Hours()
		if s.phase == job.Restoring {
			t.lose(now)
		}
	case r.why.Kind == policy.WaitProfile && s.starts == 0:
		t.totals.Profiling += journal.Seconds(length)
	default:
		t.totals.Waiting += journal.Seconds(length)
	}
}

// exited handles the end of the job, or the loss of its GPUs. Call it before the clusterState gets the event.
func (t *journalReader) exited(ev scheduler.Exited, r *row) {
	s := &t.state
	if s.spec == nil || r == nil {
		return
	}
	t.settle(t.now)
	held := r.holds
	detail := ""
	if ev.Detail != "" {
		detail = ": " + ev.Detail
	}
	if ev.Outcome == scheduler.Lost {
		then := "continues from its last checkpoint"
		if s.spec.NoCheckpoint {
			then = "starts from the beginning: it has no checkpoints"
		}
		t.add(Lost, held, cluster.Allocation{}, "lost "+both(held)+detail+"; it "+then, nil)
		t.happened(event{what: Lost, verb: "lost " + both(held), reason: strings.TrimPrefix(detail+"; it "+then, ": ")})
		s.phase, s.since, s.before, s.takers = job.Waiting, t.now, held, nil
		s.lost, s.lostAt, s.lostHow = "lost at "+clock(t.now)+detail, t.now, detail
		clear(s.explained)
		return
	}
	s.phase = lastPhase[ev.Outcome]
	s.since, s.before, s.takers, s.lost, s.detail = t.now, held, nil, "", detail
	end := journal.Seconds(t.now)
	t.totals.Ended, t.totals.Outcome = &end, s.phase.String()
	t.add(Ended, held, cluster.Allocation{}, s.phase.String()+detail+", "+passed(t.came, t.now)+" after submission", nil)
	t.happened(event{what: Ended, verb: ended[s.phase], reason: ev.Detail})
}

var lastPhase = map[scheduler.Outcome]job.Phase{
	scheduler.Done: job.Completed, scheduler.Failed: job.Failed, scheduler.Cancelled: job.Cancelled,
}
