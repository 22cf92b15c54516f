package explain

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/journal"
)

// An Overview is the state of a cluster and of all its jobs at one time of a recording.
type Overview struct {
	At     journal.Seconds `json:"at"`    // time of the overview
	Last   journal.Seconds `json:"last"`  // time of the last record
	Begun  time.Time       `json:"begun"` // time 0 of the recording
	Policy string          `json:"policy"`
	Types  []TypeView      `json:"types"`
	Nodes  []OverviewNode  `json:"nodes"`
	Jobs   []OverviewJob   `json:"jobs"`  // not ended, in order of submission
	Ended  []OverviewEnd   `json:"ended"` // jobs that ended after the last checkpoint before At, the latest first
}

// An OverviewNode is a node and the jobs on it.
type OverviewNode struct {
	ID   cluster.NodeID   `json:"id"`
	Type cluster.GPUType  `json:"type"`
	GPUs int              `json:"gpus"`
	Held []OverviewHolder `json:"held,omitempty"` // in order of submission
}

// An OverviewHolder is a job that has GPUs on a node.
type OverviewHolder struct {
	Job  job.ID `json:"job"`
	GPUs int    `json:"gpus"`
}

// An OverviewJob is the state of a job that has not ended.
type OverviewJob struct {
	ID        job.ID          `json:"id"`
	Name      string          `json:"name"`
	Phase     string          `json:"phase"`
	Asked     string          `json:"asked"` // its request, in words
	Submitted journal.Seconds `json:"submitted"`
	Since     journal.Seconds `json:"since"` // start of its present allocation or wait; otherwise Submitted
	Holds     *Holding        `json:"holds,omitempty"`
	Reason    string          `json:"reason,omitempty"` // name of the policy's reason; empty: no round has decided yet
	Sentence  string          `json:"sentence"`
	Restarts  int             `json:"restarts,omitzero"`
	// Progress and Target are in samples at the initial efficiency; 0 if unknown.
	Progress float64 `json:"progress,omitzero"`
	Target   float64 `json:"target,omitzero"`
}

// An OverviewEnd states how and when a job ended.
type OverviewEnd struct {
	Job     job.ID          `json:"job"`
	At      journal.Seconds `json:"at"`
	Outcome string          `json:"outcome"` // completed, failed or cancelled
	Detail  string          `json:"detail,omitempty"`
}

const mostEnded = 20

// OverviewIn returns the Overview at a time since the start of the journal, after all records of that time. It starts
// reading at the last checkpoint before the last round.
func OverviewIn(f *journal.File, at time.Duration) (*Overview, error) {
	last, err := f.Last()
	if err != nil {
		return nil, fmt.Errorf("explain: %w", err)
	}
	at = min(max(at, 0), last.At)
	t, from, err := overviewFrom(f, at, at)
	if err == nil && from != nil && !t.decided {
		t, _, err = overviewFrom(f, from.At-1, at)
	}
	if err != nil {
		return nil, fmt.Errorf("explain: %w", err)
	}
	s := t.overview(at)
	s.Last = journal.Seconds(last.At)
	return s, nil
}

// overviewFrom reads from the last checkpoint up to a time, or from the start of the journal if it returns nil, to
// another time.
func overviewFrom(f *journal.File, from, at time.Duration) (*overviewReader, *journal.Checkpoint, error) {
	r, err := f.Before(from)
	if err != nil {
		return nil, nil, err
	}
	c, err := r.Checkpoint()
	if err != nil {
		return nil, nil, err
	}
	t := newOverviewReader(f.Header(), c)
	for rec, err := range r.Records() {
		if errors.Is(err, journal.ErrTruncated) || err == nil && rec.At > at {
			break
		}
		if err != nil {
			return nil, nil, err
		}
		t.take(&rec)
	}
	return t, c, nil
}

type overviewReader struct {
	clusterState
	begun time.Time
	all   map[job.ID]*life
	ends  []OverviewEnd
	// decided: the actions of the last round were read. A checkpoint, which follows a round, lacks them.
	decided bool
}

type life struct {
	phase            job.Phase
	submitted, since time.Duration
	starts           int
	progress         float64
}

func newOverviewReader(h journal.Header, c *journal.Checkpoint) *overviewReader {
	t := &overviewReader{clusterState: newClusterState(h), begun: h.Start, all: map[job.ID]*life{}}
	if c == nil {
		return t
	}
	t.restoreFrom(c)
	for i := range c.Jobs {
		t.restored(&c.Jobs[i].Restored)
	}
	return t
}

func (t *overviewReader) restored(ev *scheduler.Restored) {
	st := &ev.Status
	l := &life{phase: st.Phase, submitted: st.Submitted.Sub(t.begun), since: st.Since.Sub(t.begun), starts: st.Restarts, progress: st.Progress}
	if st.Since.IsZero() {
		l.since = l.submitted
	}
	if !st.FirstStarted.IsZero() {
		l.starts++
	}
	if !st.Phase.Terminal() {
		t.all[ev.Spec.ID] = l
	}
}

func (t *overviewReader) take(rec *journal.Record) {
	t.now = rec.At
	if rec.Round != nil {
		t.round(rec.At, rec.Round)
		return
	}
	switch ev := rec.Event.(type) {
	case scheduler.Submitted:
		t.all[ev.Spec.ID] = &life{phase: job.Waiting, submitted: rec.At, since: rec.At}
	case scheduler.Restored:
		t.restored(&ev)
	case scheduler.Profiled:
		if l := t.all[ev.Job]; l != nil && l.starts == 0 {
			l.phase = job.Waiting
		}
	case scheduler.Reported:
		if l := t.all[ev.Job]; l != nil && !ev.Profile {
			l.phase, l.progress = job.Running, ev.Progress
		}
	case scheduler.Exited:
		t.exited(rec.At, &ev)
	}
	t.event(rec.Event)
}

func (t *overviewReader) exited(at time.Duration, ev *scheduler.Exited) {
	l := t.all[ev.Job]
	if l == nil {
		return
	}
	if ev.Outcome == scheduler.Lost {
		l.phase, l.since = job.Waiting, at
		return
	}
	delete(t.all, ev.Job)
	t.ends = append(t.ends, OverviewEnd{Job: ev.Job, At: journal.Seconds(at), Outcome: lastPhase[ev.Outcome].String(), Detail: ev.Detail})
	t.ends = t.ends[max(0, len(t.ends)-mostEnded):]
}

func (t *overviewReader) round(at time.Duration, r *journal.Round) {
	for _, a := range r.Actions {
		switch a := a.(type) {
		case scheduler.Run:
			l, had := t.all[a.Job], t.jobs[a.Job]
			if l == nil || had == nil || a.InPlace(had.holds, had.on) {
				continue
			}
			l.since = at
			if !a.Free && !a.Resized {
				l.phase, l.starts = job.Restoring, l.starts+1
			}
		case scheduler.Preempt:
			if l := t.all[a.Job]; l != nil {
				l.phase, l.since = job.Waiting, at
			}
		}
	}
	t.clusterState.round(r)
	t.decided = true
}

func (t *overviewReader) overview(at time.Duration) *Overview {
	view, order := t.view(), t.order()
	s := &Overview{At: journal.Seconds(at), Begun: t.begun, Policy: t.policy, Types: view.Types}
	var ids []job.ID
	for id := range t.all {
		if t.jobs[id] != nil {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b job.ID) int {
		return cmp.Or(cmp.Compare(t.all[a].submitted, t.all[b].submitted), cmp.Compare(a, b))
	})
	held := make(map[cluster.NodeID][]OverviewHolder)
	for _, id := range ids {
		for _, sh := range t.jobs[id].on {
			held[sh.Node] = append(held[sh.Node], OverviewHolder{id, sh.GPUs})
		}
		s.Jobs = append(s.Jobs, t.job(id, view, order, at))
	}
	for _, n := range t.cluster.Nodes() {
		s.Nodes = append(s.Nodes, OverviewNode{ID: n.ID, Type: n.GPUType, GPUs: n.Capacity.GPUs, Held: held[n.ID]})
	}
	s.Ended = slices.Clone(t.ends)
	slices.Reverse(s.Ended)
	return s
}

func (t *overviewReader) job(id job.ID, view View, order *jobOrder, at time.Duration) OverviewJob {
	r, l := t.jobs[id], t.all[id]
	j := OverviewJob{
		ID: id, Name: cmp.Or(r.spec.Name, string(id)), Phase: l.phase.String(), Asked: asked(r.spec, NotKnown), Submitted: journal.Seconds(l.submitted), Since: journal.Seconds(l.since),
		Holds: holding(r.holds), Restarts: max(0, l.starts-1), Progress: l.progress, Target: r.spec.Target,
		Sentence: Undecided,
	}
	if r.ruled {
		here := t.contextWith(r, view, at)
		here.trains = l.phase == job.Running
		order.others(&here)
		j.Reason, j.Sentence = r.why.Kind.String(), here.because()
	}
	return j
}
