package agentapi

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oxgang/oxgang/model/job"
)

// A Quarantine counts the messages of a job that the server refused, and stores the last one.
type Quarantine struct {
	Count     int64
	Path      string
	Complaint string
	Body      []byte // at most 4 KiB; nil if it could not be read
	At        time.Time
}

type account struct {
	id     job.ID
	bucket *bucket
	inside atomic.Int32 // number of open requests

	mu  sync.Mutex
	bad Quarantine

	// turn holds an element while a message of the job is handled. It guards taken.
	turn  chan struct{}
	taken record
}

func newAccount(id job.ID, o *Options) *account {
	return &account{id: id, turn: make(chan struct{}, 1), bucket: newBucket(o.Rate, o.Burst)}
}

type record struct {
	generation int
	sequence   int64 // 0 for none
	step       int64
	progress   float64
	saved      int64   // step of the last checkpoint
	answer     *Answer // to the last report
	pace       pace
	refused    *Report // nil if the last one was accepted
}

func (a *account) quarantine(path, complaint string, body []byte) {
	const most = 4 << 10
	a.mu.Lock()
	defer a.mu.Unlock()
	a.bad = Quarantine{
		Count: a.bad.Count + 1, Path: path, Complaint: complaint,
		Body: slices.Clone(body[:min(len(body), most)]), At: time.Now(),
	}
}

func (a *account) quarantined() Quarantine {
	a.mu.Lock()
	defer a.mu.Unlock()
	q := a.bad
	q.Body = slices.Clone(q.Body)
	return q
}

func (a *account) enter() bool {
	if a.inside.Add(1) > atOnce {
		a.inside.Add(-1)
		return false
	}
	return true
}

func (a *account) leave() { a.inside.Add(-1) }

func (a *account) await(ctx context.Context) error {
	select {
	case a.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for another message of the job: %w", ctx.Err())
	}
}

func (a *account) done() { <-a.turn }

func (t *record) outdated(generation int) error {
	if generation < t.generation {
		return fmt.Errorf("%w: generation %d, want %d", ErrGeneration, generation, t.generation)
	}
	return nil
}

func (a *account) hello(ctx context.Context, j Jobs, h *Hello) (any, error) {
	if err := a.taken.outdated(h.Generation); err != nil {
		return nil, err
	}
	if r := h.Restored; r != nil && h.Generation == a.taken.generation {
		if err := a.taken.implausible(claim{r.Step, r.Progress}, 0, time.Now()); err != nil {
			return nil, err
		}
	}
	w, err := j.Hello(ctx, a.id, h)
	if err != nil {
		return nil, err
	}
	if a.taken.begin(h.Generation) {
		a.taken.pace = h.pace(time.Now())
		if h.Restored != nil {
			a.taken.step, a.taken.progress = h.Restored.Step, h.Restored.Progress
		}
	}
	answer := *w
	answer.Profile = append([]int{}, w.Profile...) // [], not null
	return &answer, nil
}

func (t *record) begin(generation int) bool {
	if generation == t.generation {
		return false
	}
	*t = record{generation: generation}
	return true
}

// report passes measurements on once. A repeated or older sequence number gets the last answer again, unless the
// report has more steps than any before: then one of the sequence numbers is wrong.
func (a *account) report(ctx context.Context, j Jobs, r *Report) (any, error) {
	t := &a.taken
	if err := t.outdated(r.Generation); err != nil {
		return nil, err
	}
	if r.Generation == t.generation {
		if r.Sequence <= t.sequence && r.Step <= t.step {
			return t.answer, nil
		}
		if err := t.renumbered(r, time.Now()); err != nil {
			return nil, err
		}
		if err := t.implausible(claim{r.Step, r.Progress}, r.samples(t.pace.workers), time.Now()); err != nil {
			return nil, err
		}
		if err := t.backwards(r); err != nil {
			return nil, err
		}
	}
	answer, err := j.Report(ctx, a.id, r)
	if err != nil {
		return nil, err
	}
	t.begin(r.Generation)
	t.sequence, t.step, t.progress, t.answer, t.refused = r.Sequence, r.Step, r.Progress, answer, nil
	t.pace.measure(r, time.Now())
	return answer, nil
}

// backwards refuses a report with less work done, or a lower number, than an earlier one. If the next report agrees with the refused
// one, the earlier one was wrong, and the next is accepted.
func (t *record) backwards(r *Report) error {
	if w := t.refused; w != nil && r.Sequence > w.Sequence && r.Step >= w.Step && r.Progress >= w.Progress {
		return nil
	}
	var b boundary
	if r.Sequence <= t.sequence {
		b.bad("sequence %d, want more than %d, the sequence of an earlier report of fewer steps", r.Sequence, t.sequence)
	}
	if r.Step < t.step {
		b.bad("step %d, want at least %d, the step of an earlier report", r.Step, t.step)
	}
	if r.Progress < t.progress {
		b.bad("progress %v, want at least %v, the progress of an earlier report", r.Progress, t.progress)
	}
	if len(b.complaints) > 0 {
		t.refused = r
	}
	return b.err()
}

// checkpoint refuses fewer steps than the last checkpoint has, unless that one was accepted before a report, and the
// reports show since then that it was wrong.
func (a *account) checkpoint(ctx context.Context, j Jobs, c *Checkpoint) (any, error) {
	t := &a.taken
	if err := t.outdated(c.Generation); err != nil {
		return nil, err
	}
	if c.Generation == t.generation {
		if err := t.implausible(claim{c.Step, c.Progress}, 0, time.Now()); err != nil {
			return nil, err
		}
		if c.Step < t.saved && !t.tooFar(t.saved, time.Now()) {
			return nil, fmt.Errorf("%w: step %d, want at least %d, the step of the previous checkpoint", ErrInvalid, c.Step, t.saved)
		}
	}
	if err := j.Checkpoint(ctx, a.id, c); err != nil {
		return nil, err
	}
	t.begin(c.Generation)
	t.saved = c.Step
	return Empty{}, nil
}
