package view

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"github.com/oxgang/oxgang/live/gpuuse"
	"github.com/oxgang/oxgang/live/page"
	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/model/job"
)

// A Page is the live page of a Kubernetes cluster.
type Page struct {
	*page.Watched
	looker *Looker
	last   atomic.Pointer[Look]
	ask    asking // nil: questions are off
}

var (
	_ page.Source = (*Page)(nil)
	_ page.Actor  = (*Page)(nil)
	_ page.Asker  = (*Page)(nil)
)

// NewPage returns a Page that reads the cluster through l. Call l.Look before the page is shown.
func NewPage(l *Looker, title string) *Page {
	p := &Page{looker: l}
	p.Watched = page.NewWatched(func(ctx context.Context) (*status.Status, error) {
		at, err := l.Look(ctx)
		if err != nil {
			return nil, err
		}
		p.last.Store(at)
		return at.Status(title), nil
	})
	p.Cancelling = "This deletes the job's object, its pods and their logs. Data that it has saved elsewhere stays. This cannot be undone."
	return p
}

// MeasureBy makes the page show the use of GPUs that meter measures.
func (p *Page) MeasureBy(meter *gpuuse.Meter) {
	p.Measure = func(s *status.Status) { meter.Attach(s, p.last.Load().owner()) }
}

func (at *Look) owner() func(*gpuuse.Sample) job.ID {
	jobs := make(map[string]job.ID)
	for i := range at.Jobs {
		for _, pod := range at.Jobs[i].names {
			jobs[at.Jobs[i].Namespace+"/"+pod] = at.Jobs[i].ID
		}
	}
	return func(s *gpuuse.Sample) job.ID { return jobs[s.Pod] }
}

const (
	least = 5 * time.Second
	rest  = 9 // as a multiple of its duration
)

// Follow reads the cluster repeatedly until ctx is done.
func (p *Page) Follow(ctx context.Context) {
	p.Watched.Follow(ctx, func(took time.Duration, _ bool) time.Duration { return max(least, rest*took) })
}

func (p *Page) liveJob(id job.ID) (*liveJob, error) {
	j, err := p.Find(id)
	if err != nil {
		return nil, err
	}
	at := p.last.Load()
	for i := range at.Jobs {
		if at.Jobs[i].UID == j.UID {
			return &at.Jobs[i], nil
		}
	}
	return nil, page.ErrUnknown
}

// Cancel implements page.Actor. It deletes the job's object, with the user's rights.
func (p *Page) Cancel(ctx context.Context, id job.ID) error {
	s, err := p.liveJob(id)
	if err != nil {
		return err
	}
	if err := p.looker.Delete(ctx, s); err != nil {
		return &page.RefusedError{Text: err.Error()}
	}
	return nil
}

// Log implements page.Source.
func (p *Page) Log(ctx context.Context, id job.ID, w io.Writer) error {
	s, err := p.liveJob(id)
	if err != nil {
		return err
	}
	text, err := p.looker.Log(ctx, s)
	switch {
	case errors.Is(err, ErrNotFound):
		return page.ErrUnknown
	case err != nil:
		text = []byte("not shown: " + err.Error())
	}
	_, err = w.Write(text)
	return err
}
