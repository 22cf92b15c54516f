package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler/explain"
	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/simulate/whatif"
)

// A Recorded is the Source of the live page for a journal.
type Recorded struct {
	Title string
	File  *journal.File
	// Again, if not nil, adds to a moment what planning its round again shows.
	Again func(ctx context.Context, s *explain.Story)
	// WhatIf answers what-if questions; may be nil.
	WhatIf func(ctx context.Context, q whatif.Question, at time.Duration) (*whatif.Answer, error)

	opened sync.Once
	views  explain.Overviews
	once   sync.Once
	past   *past
	err    error
}

var (
	_ Source = (*Recorded)(nil)
	_ Asker  = (*Recorded)(nil)
)

// Live implements Source.
func (*Recorded) Live() bool { return false }

// Overview implements Source.
func (r *Recorded) Overview(_ context.Context, at time.Duration) (*Overview, error) {
	r.opened.Do(func() { r.views.File = r.File })
	s, err := r.views.At(at)
	if err != nil {
		return nil, err
	}
	now := statusOf(s, r.Title)
	now.Fill()
	return &Overview{Status: now, Begun: s.Begun, Elapsed: s.At, Last: s.Last, NoOutput: "a journal does not contain what programs print"}, nil
}

// Job implements Source.
func (r *Recorded) Job(ctx context.Context, id job.ID, at time.Duration) (*Job, error) {
	moment, err := explain.AtIn(r.File, id, at)
	if _, unknown := errors.AsType[*explain.UnknownJobError](err); unknown {
		return nil, fmt.Errorf("job %s: %w", id, ErrUnknown)
	}
	if err != nil {
		return nil, err
	}
	if r.Again != nil {
		r.Again(ctx, moment)
	}
	whole, err := r.File.Start()
	if err != nil {
		return nil, err
	}
	life, err := explain.Life(whole, id)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(moment)
	return &Job{Begun: r.File.Header().Start, Life: life, Moment: text}, err
}

// Asks implements Asker.
func (r *Recorded) Asks() bool { return r.WhatIf != nil }

// Ask implements Asker. It needs WhatIf.
func (r *Recorded) Ask(ctx context.Context, q whatif.Question, at time.Duration) (*whatif.Answer, error) {
	return r.WhatIf(ctx, q, at)
}

// Log implements Source. A journal has no output.
func (*Recorded) Log(context.Context, job.ID, io.Writer) error { return ErrUnknown }

// Series implements Source.
func (r *Recorded) Series(context.Context) (*Series, error) {
	p, err := r.whole()
	if err != nil {
		return nil, err
	}
	return p.series, nil
}

// Timeline implements Source.
func (r *Recorded) Timeline(context.Context) (*status.Timeline, error) {
	p, err := r.whole()
	if err != nil {
		return nil, err
	}
	return p.timeline, nil
}

func (r *Recorded) whole() (*past, error) {
	r.once.Do(func() {
		var whole *journal.Reader
		if whole, r.err = r.File.Start(); r.err == nil {
			r.past, r.err = pastOf(whole)
		}
	})
	return r.past, r.err
}
