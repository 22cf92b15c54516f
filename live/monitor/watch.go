package monitor

import (
	"context"
	"time"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
	"github.com/oxgang/oxgang/scheduler"
)

// The stages of a round, in order.
const (
	stageSnapshot = "snapshot" // snapshot and fitting of models
	StagePolicy   = "policy"   // planning and solving
	stageCheck    = "check"
	stagePlace    = "place"  // choice of nodes
	stageDiff     = "diff"   // check of the placement, comparison with the current one
	stageRecord   = "record" // observers: journals, predictions
	stageApply    = "apply"
)

// A Stage is one part of a round, such as planning, with its duration.
type Stage struct {
	Name         string
	Begun, Ended time.Time
	Err          error // nil if it succeeded
	Interrupted  bool
}

// A Timing has the durations of the stages of one round. Seq counts the rounds of a Watch from 0.
type Timing struct {
	Seq          int
	Begun, Ended time.Time
	Stages       []Stage
	Refused      string // empty if it was not refused
}

// A Watch measures how long the stages of each round take. Give the scheduler its Policy and Placer, and run the
// scheduler with its Backend and with the Watch as the first observer. The scheduler's goroutine calls the listeners
// after each round.
type Watch struct {
	listeners []func(*Timing)
	now       Timing // the current round
	mark      time.Time
	open      bool   // a round runs
	gap       string // the current stage
}

// NewWatch returns a Watch that calls listeners in order.
func NewWatch(listeners ...func(*Timing)) *Watch { return &Watch{listeners: listeners} }

func (w *Watch) begin() {
	at := time.Now()
	w.now, w.mark, w.open, w.gap = Timing{Seq: w.now.Seq, Begun: at}, at, true, stageSnapshot
}

func (w *Watch) end(next string, err error) {
	if !w.open {
		return
	}
	at := time.Now()
	w.now.Stages = append(w.now.Stages, Stage{Name: w.gap, Begun: w.mark, Ended: at, Err: err})
	w.mark, w.gap = at, next
}

func (w *Watch) finish() {
	w.open, w.now.Ended = false, w.mark
	done := w.now
	for _, listen := range w.listeners {
		listen(&done)
	}
	w.now = Timing{Seq: done.Seq + 1}
}

// Event implements scheduler.Observer.
func (*Watch) Event(time.Time, scheduler.Event) {}

// Round implements scheduler.Observer.
func (w *Watch) Round(_ *policy.Snapshot, p *policy.Plan, _ []scheduler.Action) {
	w.now.Refused = p.Refused
	w.end(stageRecord, nil)
}

// Policy returns a wrapper of p that measures its time.
func (w *Watch) Policy(p policy.Policy) policy.Policy { return timedPolicy{p, w} }

// Placer returns a wrapper of p that measures its time.
func (w *Watch) Placer(p placement.Placer) placement.Placer { return timedPlacer{p, w} }

// Backend returns a wrapper of b that measures its time.
func (w *Watch) Backend(b scheduler.Backend) scheduler.Backend { return timedBackend{b, w} }

type timedPolicy struct {
	policy.Policy
	w *Watch
}

func (t timedPolicy) Plan(ctx context.Context, s *policy.Snapshot) (p *policy.Plan, err error) {
	t.w.end(StagePolicy, nil)
	err = errPanic
	defer func() {
		t.w.end(stageCheck, err)
		if n := len(t.w.now.Stages); n > 0 && p != nil {
			t.w.now.Stages[n-1].Interrupted = p.Stats.Interrupted
		}
	}()
	p, err = t.Policy.Plan(ctx, s)
	return p, err
}

type timedPlacer struct {
	placement.Placer
	w *Watch
}

func (t timedPlacer) Place(ctx context.Context, s *policy.Snapshot, p *policy.Plan) (placed *policy.Plan, err error) {
	t.w.end(stagePlace, nil)
	err = errPanic
	defer func() { t.w.end(stageDiff, err) }()
	placed, err = t.Placer.Place(ctx, s, p)
	return placed, err
}

type timedBackend struct {
	scheduler.Backend
	w *Watch
}

func (t timedBackend) Next(ctx context.Context, deadline time.Time) (scheduler.Event, error) {
	t.w.open = false // a round that was dropped
	ev, err := t.Backend.Next(ctx, deadline)
	if ev == nil && err == nil {
		t.w.begin()
	}
	return ev, err
}

func (t timedBackend) Do(ctx context.Context, acts []scheduler.Action) error {
	if !t.w.open {
		return t.Backend.Do(ctx, acts)
	}
	t.w.end(stageApply, nil)
	err := t.Backend.Do(ctx, acts)
	t.w.end("", err)
	t.w.finish()
	return err
}
