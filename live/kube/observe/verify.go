package observe

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrWatches is returned if the watches have missed an event or stalled. The process must then restart.
var ErrWatches = errors.New("the watches miss changes of the API server")

// Relist is the interval of comparisons; Late the allowed lag.
const (
	Relist = 5 * time.Minute
	Late   = time.Minute
)

// Verify compares the watches with the API server every Relist until ctx is done. It returns ErrWatches if they differ.
func (ob *Observer) Verify(ctx context.Context) error {
	for {
		if !Wait(ctx, Relist) {
			return ctx.Err()
		}
		err := ob.compare(ctx, Late, ob.kinds(ob.options.Turn.Take(time.Now(), Relist)))
		switch {
		case ctx.Err() != nil:
		case errors.Is(err, ErrWatches):
			return err
		case err != nil:
			ob.options.Log.Warn("cannot compare the watches with the API server", "queue", ob.options.Queue.Name, "err", err)
		}
	}
}

// Wait waits for d, and reports whether ctx is still active.
func Wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

func (ob *Observer) compare(ctx context.Context, grace time.Duration, kinds []kind) error {
	began := time.Now()
	before, err := ob.shown(ctx, kinds)
	if err != nil {
		return err
	}
	then, err := ob.versions(ctx, kinds)
	if err != nil || !Wait(ctx, grace) {
		return err
	}
	at := time.Now()
	after, err := ob.shown(ctx, kinds)
	if err != nil {
		return err
	}
	now, err := ob.versions(ctx, kinds)
	if err != nil {
		return err
	}
	for uid := range before {
		if then[uid] == 0 && now[uid] == 0 && after[uid] > 0 {
			return fmt.Errorf("%w: uid %s was deleted at least %v ago and is still shown", ErrWatches, uid, at.Sub(began).Round(time.Second))
		}
	}
	for uid, version := range then {
		if now[uid] > 0 && after[uid] < version {
			return fmt.Errorf("%w: uid %s is shown at resource version %d (0: not at all); the API server had %d already %v before", ErrWatches, uid, after[uid], version, at.Sub(began).Round(time.Second))
		}
	}
	return nil
}
