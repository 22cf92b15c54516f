// Package overview shows a Kubernetes cluster on the live page: it is a page.Source over what the user's own kubectl says of it.
package overview

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/oxgang/oxgang/live/kube/view"
	"github.com/oxgang/oxgang/live/page"
	"github.com/oxgang/oxgang/model/job"
)

// A Cluster is the Source of a cluster. It shows what the user may see, as it was at the last look. Its times count from 1970.
type Cluster struct {
	title string
	look  func(context.Context) (*view.Look, error)
	drop  func(context.Context, *view.Seen) error
	log   func(context.Context, *view.Seen) ([]byte, error)
	ask   asking // nil: the scheduler is not asked

	mu     sync.Mutex
	last   *view.Look
	failed error // of the look after last
	past   past
}

var (
	_ page.Source = (*Cluster)(nil)
	_ page.Actor  = (*Cluster)(nil)
	_ page.Asker  = (*Cluster)(nil)
)

// New returns the Source of the cluster that a Looker looks at.
func New(l *view.Looker, title string) *Cluster {
	return &Cluster{title: title, look: l.Look, drop: l.Delete, log: l.Log, past: newPast()}
}

const (
	least = 5 * time.Second // between two looks
	rest  = 9               // the pause after a look over the time that it took: kubectl runs a tenth of the time at most
)

// Look looks once, and reports why it could not.
func (c *Cluster) Look(ctx context.Context) error {
	at, err := c.look(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed = err; err == nil {
		c.last = at
		c.past.add(at)
	}
	return err
}

// Follow looks again and again, until ctx is done.
func (c *Cluster) Follow(ctx context.Context) {
	for took := time.Duration(0); ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(max(least, rest*took)):
		}
		began := time.Now()
		_ = c.Look(ctx) // the page says it
		took = time.Since(began)
	}
}

// seen returns the last look, and since when there was no other; the error is why there was none at all.
func (c *Cluster) seen() (at *view.Look, banner string, err error) {
	switch {
	case c.last == nil && c.failed == nil:
		return nil, "", errors.New("nobody has looked yet")
	case c.last == nil:
		return nil, "", c.failed
	case c.failed != nil:
		banner = fmt.Sprintf("The cluster has not answered since %s: %v", c.last.At.UTC().Format(clock), c.failed)
	}
	return c.last, banner, nil
}

// Live implements page.Source.
func (*Cluster) Live() bool { return true }

// Overview implements page.Source.
func (c *Cluster) Overview(context.Context, time.Duration) (*page.Overview, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, banner, err := c.seen()
	if err != nil {
		return nil, err
	}
	o := &page.Overview{Overview: overviewOf(at), Title: c.title, Live: true, Notes: at.Lacks, Cancelling: cancelling}
	for i := range at.Queues {
		q := &at.Queues[i]
		if a := q.Condition("Active"); a != nil && a.Status != "True" && q.Spec.Mode != "Off" {
			banner = strings.TrimPrefix(banner+"; queue "+q.Meta.Name+": "+a.Message, "; ")
		}
	}
	o.Banner = banner
	return o, nil
}

// cancelling says what becomes of a job that is cancelled.
const cancelling = "Its object is deleted from the cluster, and with it its pods and their logs. What it has saved elsewhere stays. This cannot be undone."

// Job implements page.Source, the present and what was seen of it since the program began to look.
func (c *Cluster) Job(_ context.Context, id job.ID, _ time.Duration) (*page.Job, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, _, err := c.seen()
	if err != nil {
		return nil, err
	}
	if s := find(at, id); s != nil {
		return c.past.job(at, s)
	}
	return nil, fmt.Errorf("%s is no job of a queue that you may see, or has ended: %w", id, page.ErrUnknown)
}

// find returns a job; nil: it is not there.
func find(at *view.Look, id job.ID) *view.Seen {
	for i := range at.Jobs {
		if at.Jobs[i].ID == string(id) {
			return &at.Jobs[i]
		}
	}
	return nil
}

// Cancel implements page.Actor: it deletes the object that was seen, if the user may.
func (c *Cluster) Cancel(ctx context.Context, id job.ID) error {
	s, err := c.shown(id)
	if err != nil {
		return err
	}
	if err := c.drop(ctx, s); err != nil {
		return &page.RefusedError{Text: err.Error()}
	}
	return nil
}

// Log implements page.Source. It writes the last lines of a pod of the job, with the user's right to read them, or why they are not there.
func (c *Cluster) Log(ctx context.Context, id job.ID, w io.Writer) error {
	s, err := c.shown(id)
	if err != nil {
		return err
	}
	text, err := c.log(ctx, s)
	switch {
	case errors.Is(err, view.ErrNotFound):
		return page.ErrUnknown
	case err != nil:
		text = []byte("not shown: " + err.Error())
	}
	_, err = w.Write(text)
	return err
}

// shown returns a job of the last look.
func (c *Cluster) shown(id job.ID) (*view.Seen, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, _, err := c.seen()
	if err != nil {
		return nil, err
	}
	if s := find(at, id); s != nil {
		return s, nil
	}
	return nil, fmt.Errorf("%s: %w", id, page.ErrUnknown)
}

// Series implements page.Source, since the program began to look.
func (c *Cluster) Series(context.Context) (*page.Series, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.past.copied(), nil
}
