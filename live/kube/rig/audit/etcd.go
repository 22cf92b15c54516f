package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// A Watcher feeds an auditor from a running etcd.
type Watcher struct {
	etcd *clientv3.Client
	a    *Auditor
	stop context.CancelFunc
	done chan struct{}

	mu    sync.Mutex
	seen  int64         // last audited revision
	moved chan struct{} // closed and replaced when seen grows
	err   error
}

// Follow audits all writes to etcd, from the first revision until Stop. If the history was compacted, Sync and Stop
// return an error.
func Follow(etcd *clientv3.Client, a *Auditor) *Watcher {
	ctx, stop := context.WithCancel(context.Background())
	w := &Watcher{etcd: etcd, a: a, stop: stop, done: make(chan struct{}), moved: make(chan struct{})}
	go w.run(ctx)
	return w
}

func (w *Watcher) run(ctx context.Context) {
	defer close(w.done)
	// All keys, so that every revision appears.
	watch := w.etcd.Watch(clientv3.WithRequireLeader(ctx), "", clientv3.WithPrefix(), clientv3.WithRev(1))
	for r := range watch {
		if err := w.take(&r, time.Now()); err != nil {
			w.fail(err)
			return
		}
	}
	if ctx.Err() == nil {
		w.fail(fmt.Errorf("audit: %w", errEnded))
	}
}

var errEnded = errors.New("the watch ended")

func (w *Watcher) take(r *clientv3.WatchResponse, at time.Time) error {
	if err := r.Err(); err != nil {
		return fmt.Errorf("audit: watch: %w", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range r.Events {
		if err := w.a.event(e, at); err != nil {
			return err
		}
		w.seen = e.Kv.ModRevision
	}
	close(w.moved)
	w.moved = make(chan struct{})
	return nil
}

func (a *Auditor) event(e *clientv3.Event, at time.Time) error {
	k, ok := ParseKey(string(e.Kv.Key))
	if !ok {
		return nil
	}
	var o *Object
	if e.Type == clientv3.EventTypePut {
		var err error
		if o, err = Decode(k, e.Kv.Value); err != nil {
			return fmt.Errorf("audit: revision %d: %w", e.Kv.ModRevision, err)
		}
	}
	return a.See(e.Kv.ModRevision, at, k, o)
}

func (w *Watcher) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err = err
	close(w.moved)
	w.moved = make(chan struct{})
}

// Sync waits until all writes before the call are audited, and returns the revision of the last.
func (w *Watcher) Sync(ctx context.Context) (int64, error) {
	r, err := w.etcd.Get(ctx, Root, clientv3.WithCountOnly())
	if err != nil {
		return 0, fmt.Errorf("audit: %w", err)
	}
	return r.Header.Revision, w.Until(ctx, func(*Auditor) bool { return w.seen >= r.Header.Revision })
}

// Until waits until so returns true after a write.
func (w *Watcher) Until(ctx context.Context, so func(a *Auditor) bool) error {
	for {
		w.mu.Lock()
		ok, err, moved := so(w.a), w.err, w.moved
		w.mu.Unlock()
		if ok || err != nil {
			return err
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return fmt.Errorf("audit: %w", ctx.Err())
		}
	}
}

// Look calls f with the auditor between two changes.
func (w *Watcher) Look(f func(a *Auditor)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f(w.a)
}

// Stop waits until all writes before the call are audited, ends the watch, and returns all findings.
func (w *Watcher) Stop(ctx context.Context) ([]Finding, error) {
	_, err := w.Sync(ctx)
	w.stop()
	<-w.done
	return w.a.End(time.Now()), err
}

// Replay audits the revisions from ... to, both included. Times come from the objects.
func Replay(ctx context.Context, etcd *clientv3.Client, a *Auditor, from, to int64) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	at := a.State.Time
	for r := range etcd.Watch(clientv3.WithRequireLeader(ctx), "", clientv3.WithPrefix(), clientv3.WithRev(from)) {
		if err := r.Err(); err != nil {
			return fmt.Errorf("audit: replay: %w", err)
		}
		for _, e := range r.Events {
			if e.Kv.ModRevision > to {
				return nil
			}
			at = later(at, e)
			if err := a.event(e, at); err != nil {
				return err
			}
		}
		if n := len(r.Events); n > 0 && r.Events[n-1].Kv.ModRevision >= to {
			return nil
		}
	}
	return fmt.Errorf("audit: replay: %w", cmp.Or(ctx.Err(), errEnded))
}

func later(at time.Time, e *clientv3.Event) time.Time {
	k, ok := ParseKey(string(e.Kv.Key))
	if !ok || e.Type != clientv3.EventTypePut {
		return at
	}
	if o, err := Decode(k, e.Kv.Value); err == nil && stampOf(o).After(at) {
		return stampOf(o)
	}
	return at
}
