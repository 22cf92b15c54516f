package kube

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/oxgang/oxgang/live/eventqueue"
	"github.com/oxgang/oxgang/live/kube/observe"
)

// How long the executor waits after news before it looks, so that many are one, and how often
// it looks without news while something is to happen by time alone.
const (
	gather = 50 * time.Millisecond
	glance = time.Second
)

// rest is how many times as long as it has looked the executor waits at least before it looks
// again, a glance at most: looking takes a fifth of its time, however much is new.
const rest = 4

// pause returns how long to wait after news before the next look.
func pause(looked time.Duration) time.Duration { return min(max(gather, rest*looked), glance) }

// parallel is how many jobs are written to at a time.
const parallel = 16

// News says that something the world looks at has changed.
func (w *World) News() { eventqueue.Wake(w.work) }

// Execute makes the cluster equal to the committed plan until ctx is done, another leader has
// taken over (ErrFenced), or the watches are found not to show what there is (ErrWatches). It
// only ever compares what the watches show with what is committed, and takes the next step
// towards it; in modes that do not act it only looks.
func (w *World) Execute(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return w.execute(ctx) })
	g.Go(func() error { return w.observer.Verify(ctx) })
	return g.Wait()
}

// execute looks and acts until ctx is done, or another leader has taken over.
func (w *World) execute(ctx context.Context) error {
	tick := time.NewTicker(glance)
	defer tick.Stop()
	for {
		if err := w.pass(ctx); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-w.work:
			observe.Wait(ctx, pause(w.background.looked))
		case <-tick.C:
		}
	}
}

// pass looks once and takes every step that can be taken. Trouble with a job is that job's;
// trouble with looking is noted, and tried again.
func (w *World) pass(ctx context.Context) error {
	began := time.Now()
	s, err := w.observer.Observe(ctx)
	if err != nil {
		w.o.Log.Warn("cannot see the cluster, so everything stays as it is", "queue", w.o.Queue.Name, "err", err)
		return ctx.Err()
	}
	w.mu.Lock()
	w.reconcile(s)
	steps, notes := w.planner().Steps(s, time.Now())
	for i := range notes {
		notes[i].Apply()
	}
	scalings, transfers := w.nodes.Scalings(), w.nodes.Transfers(s)
	news := w.publisher.verdicts(s, steps)
	w.mu.Unlock()
	w.background.looked = time.Since(began)
	var g errgroup.Group
	g.SetLimit(parallel)
	for i := range steps {
		g.Go(func() error { w.writer.CarryOut(ctx, &steps[i]); return nil })
	}
	for i := range scalings {
		g.Go(func() error { return w.nodes.CarryOutScaling(ctx, &scalings[i]) })
	}
	for i := range transfers {
		g.Go(func() error { w.nodes.MarkNode(ctx, &transfers[i]); return nil })
	}
	for i := range news {
		g.Go(func() error { w.publisher.publish(ctx, &news[i]); return nil })
	}
	return g.Wait()
}
