package observe

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrWatches says that the watches do not show what the API server has, and will not by
// themselves: an event was lost, or they have stood still for long. All that this process knows is
// then in doubt; another that lists everything anew goes on from the Plan.
var ErrWatches = errors.New("the watches do not show what the API server has")

// How often what the watches show is compared with what the API server has, and how long they
// have to show it.
const (
	Relist = 5 * time.Minute
	Late   = time.Minute
)

// Verify compares again and again what the watches show with what the API server has, until
// ctx is done or they do not agree: then it returns ErrWatches. While the API server does not
// answer nothing is concluded.
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
			ob.options.Log.Warn("it could not be compared what the watches show", "queue", ob.options.Queue.Name, "err", err)
		}
	}
}

// Wait waits, and reports whether ctx is still not done.
func Wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// compare returns ErrWatches, with an object that shows it, if the watches still do not show some
// time later what the API server has now. What changes meanwhile they may show or not.
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
			return fmt.Errorf("%w: uid %s, which has not been there for %v", ErrWatches, uid, at.Sub(began).Round(time.Second))
		}
	}
	for uid, version := range then {
		if now[uid] > 0 && after[uid] < version {
			return fmt.Errorf("%w: uid %s of resource version %d (0: none), and it was %d %v before", ErrWatches, uid, after[uid], version, at.Sub(began).Round(time.Second))
		}
	}
	return nil
}
