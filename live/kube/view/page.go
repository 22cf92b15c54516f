package view

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"github.com/oxgang/oxgang/live/page"
	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/model/job"
)

// A Page is the source of the live page of a cluster. It shows what the user may see.
type Page struct {
	*page.Watched
	looker *Looker
	last   atomic.Pointer[Look]
	ask    asking // nil: the scheduler is not asked
}

var (
	_ page.Source = (*Page)(nil)
	_ page.Actor  = (*Page)(nil)
	_ page.Asker  = (*Page)(nil)
)

// NewPage returns the source of the cluster that a Looker looks at. Call Look before it is shown.
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
	p.Cancelling = "Its object is deleted from the cluster, and with it its pods and their logs. What it has saved elsewhere stays. This cannot be undone."
	return p
}

const (
	least = 5 * time.Second // between two looks
	rest  = 9               // the pause after a look over the time that it took: kubectl runs a tenth of the time at most
)

// Follow looks again and again, until ctx is done.
func (p *Page) Follow(ctx context.Context) {
	p.Watched.Follow(ctx, func(took time.Duration, _ bool) time.Duration { return max(least, rest*took) })
}

// seen returns a job of the last look.
func (p *Page) seen(id job.ID) (*Seen, error) {
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

// Cancel implements page.Actor: it deletes the object that was seen, if the user may.
func (p *Page) Cancel(ctx context.Context, id job.ID) error {
	s, err := p.seen(id)
	if err != nil {
		return err
	}
	if err := p.looker.Delete(ctx, s); err != nil {
		return &page.RefusedError{Text: err.Error()}
	}
	return nil
}

// Log implements page.Source. It writes the last lines of a pod of the job, with the user's right to read them, or why they are not there.
func (p *Page) Log(ctx context.Context, id job.ID, w io.Writer) error {
	s, err := p.seen(id)
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
