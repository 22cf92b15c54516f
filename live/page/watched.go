package page

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/model/job"
)

// A Watched is a Source for a scheduler without a journal. It has the last state read, and the changes since the
// program started.
type Watched struct {
	look func(context.Context) (*status.Status, error)
	// Cancelling and NoOutput are fields of Overview.
	Cancelling, NoOutput string
	// Measure, if not nil, adds measured use to a copy of the state.
	Measure func(*status.Status)

	mu     sync.Mutex
	last   *status.Status
	failed error
	past   history
}

var _ Source = (*Watched)(nil)

// NewWatched returns a Watched that reads the present state by calling look.
func NewWatched(look func(context.Context) (*status.Status, error)) *Watched {
	return &Watched{look: look, past: history{lives: make(map[string]*life)}}
}

// Look reads the state once.
func (w *Watched) Look(ctx context.Context) error {
	_, err := w.again(ctx)
	return err
}

func (w *Watched) again(ctx context.Context) (changed bool, err error) {
	s, err := w.look(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed = err; err != nil {
		return false, err
	}
	changed = w.last == nil || !reflect.DeepEqual(s.Jobs, w.last.Jobs) || !reflect.DeepEqual(s.Nodes, w.last.Nodes)
	w.last = s
	w.past.add(s)
	return changed, nil
}

// Follow reads the state repeatedly until ctx is done. After each read, pause returns how long to wait: took is the
// duration of the read, and changed states whether the state changed.
func (w *Watched) Follow(ctx context.Context, pause func(took time.Duration, changed bool) time.Duration) {
	took, changed := time.Duration(0), true
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause(took, changed)):
		}
		began := time.Now()
		changed, _ = w.again(ctx) // shown on the page
		took = time.Since(began)
	}
}

// Now returns the state read last, or the error if no read has succeeded.
func (w *Watched) Now() (*status.Status, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.last != nil:
		return w.last, nil
	case w.failed != nil:
		return nil, w.failed
	}
	return nil, errors.New("not read yet")
}

// Find returns a job in the state read last, or ErrUnknown.
func (w *Watched) Find(id job.ID) (*status.Job, error) {
	s, err := w.Now()
	if err != nil {
		return nil, err
	}
	if j := s.Job(id); j != nil {
		return j, nil
	}
	return nil, fmt.Errorf("no job %s, or it has ended, or you may not see it: %w", id, ErrUnknown)
}

// Live implements Source.
func (*Watched) Live() bool { return true }

// Overview implements Source.
func (w *Watched) Overview(context.Context, time.Duration) (*Overview, error) {
	last, err := w.Now()
	if err != nil {
		return nil, err
	}
	s := *last
	if w.Measure != nil {
		s.Nodes, s.Jobs, s.Ended = slices.Clone(s.Nodes), slices.Clone(s.Jobs), slices.Clone(s.Ended)
		w.Measure(&s)
	}
	o := liveOverview(&s)
	o.Cancelling, o.NoOutput = w.Cancelling, w.NoOutput
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed != nil {
		o.Stale = fmt.Sprintf("%s does not answer: %v", s.Title, w.failed)
	}
	return o, nil
}

// Job implements Source.
func (w *Watched) Job(_ context.Context, id job.ID, _ time.Duration) (*Job, error) {
	j, err := w.Find(id)
	if err != nil {
		if e := w.ended(id); e != nil {
			return &Job{Begun: time.Unix(0, 0).UTC(), Job: e}, nil
		}
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return &Job{Begun: time.Unix(0, 0).UTC(), Job: j, Life: w.past.story(j)}, nil
}

func (w *Watched) ended(id job.ID) *status.Job {
	s, err := w.Now()
	if err != nil {
		return nil
	}
	i := slices.IndexFunc(s.Ended, func(j status.Job) bool { return j.ID == id })
	if i < 0 {
		return nil
	}
	return &s.Ended[i]
}

// Log implements Source. There is no output.
func (*Watched) Log(context.Context, job.ID, io.Writer) error { return ErrUnknown }

// Series implements Source, since the program started.
func (w *Watched) Series(context.Context) (*Series, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.past.series.copied(), nil
}

// Timeline implements Source, since the program started.
func (w *Watched) Timeline(context.Context) (*status.Timeline, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var until time.Time
	if w.last != nil {
		until = w.last.At
	}
	return w.past.tracks.timeline(time.Unix(0, 0).UTC(), time.Duration(since1970(until))), nil
}
