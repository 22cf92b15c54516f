package kube

import (
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/kube/execute"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/kube/observe"
)

// gather combines changes before an observation. idle is the time between observations without changes.
const (
	gather = 50 * time.Millisecond
	idle   = time.Second
)

// rest is the pause after an observation, in multiples of its duration.
const rest = 4

func pause(looked time.Duration) time.Duration { return min(max(gather, rest*looked), idle) }

const parallel = 16

// writeTime bounds a pass's writes, because rounds wait for them and no job is observed meanwhile.
const writeTime = 2 * time.Second

// urgentTime is writeTime for conditions and events while pods wait to be created or placed.
const urgentTime = writeTime / 8

// News wakes Execute after a change.
func (w *Backend) News() { driver.Wake(w.Work) }

// Execute changes the cluster until it matches the committed plan, again and again. It returns when ctx is done,
// another leader has taken over (ErrFenced), or the watches have lost changes (ErrWatches).
func (w *Backend) Execute(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return w.execute(ctx) })
	g.Go(func() error { return w.observer.Verify(ctx) })
	return g.Wait()
}

func (w *Backend) execute(ctx context.Context) error {
	tick := time.NewTicker(idle)
	defer tick.Stop()
	for {
		if err := w.pass(ctx); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-w.Work:
			observe.Wait(ctx, pause(w.background.looked))
		case <-tick.C:
		}
	}
}

func (w *Backend) pass(ctx context.Context) error {
	if err := w.observer.Hurry(ctx, w.overdue(time.Now())); err != nil {
		w.o.Log.Warn("cannot read pods that the watch is late to show", "queue", w.o.Queue.Name, "err", err)
	}
	began := time.Now()
	s, err := w.observer.Observe(ctx)
	if err != nil {
		w.o.Log.Warn("cannot read the cluster; nothing changes", "queue", w.o.Queue.Name, "err", err)
		return ctx.Err()
	}
	w.Lock()
	w.reconcile(s)
	steps, notes := w.planner().Steps(s, time.Now())
	for i := range notes {
		notes[i].Apply()
	}
	scalings, transfers := w.nodes.Scalings(), w.nodes.Transfers(s)
	news := w.publisher.verdicts(s, steps)
	telling := writeTime
	if slices.ContainsFunc(w.table.Order, (*jobstate.Job).Awaits) {
		telling = urgentTime
	}
	w.Unlock()
	w.background.looked = time.Since(began)
	return w.carryOut(ctx, time.Now(), &writes{steps, scalings, transfers, news, telling})
}

func (w *Backend) overdue(now time.Time) bool {
	w.Lock()
	defer w.Unlock()
	return w.o.Acts() && slices.ContainsFunc(w.table.Order, func(e *jobstate.Job) bool { return e.Overdue(now, observe.Prompt) })
}

type writes struct {
	steps     []execute.Step
	scalings  []execute.Scaling
	transfers []execute.Transfer
	news      []verdict
	telling   time.Duration // within which conditions and events may begin
}

// After writeTime carryOut begins only writes to nodes.
func (w *Backend) carryOut(ctx context.Context, from time.Time, all *writes) error {
	var g errgroup.Group
	g.SetLimit(parallel)
	for i := range all.scalings {
		g.Go(func() error { return w.nodes.CarryOutScaling(ctx, &all.scalings[i]) })
	}
	for i := range all.transfers {
		g.Go(func() error { w.nodes.MarkNode(ctx, &all.transfers[i]); return nil })
	}
	begun := each(&g, from.Add(writeTime), len(all.steps), func(i int) { w.writer.CarryOut(ctx, &all.steps[i]) })
	told := each(&g, from.Add(all.telling), len(all.news), func(i int) { w.publisher.publish(ctx, &all.news[i]) })
	w.publisher.putOff(all.news[told:])
	if begun < len(all.steps) || told < len(all.news) {
		w.News()
	}
	return g.Wait()
}

func each(g *errgroup.Group, until time.Time, n int, do func(i int)) int {
	for i := range n {
		if !time.Now().Before(until) {
			return i
		}
		g.Go(func() error { do(i); return nil })
	}
	return n
}
