package kube

import (
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/kube/execute"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/kube/nodepool"
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

// spell is how long after its look a pass still begins writes. The next pass begins those that are left. Rounds wait until the
// watches have shown what was written, and nothing is learned of jobs during a pass: so a pass must be short.
const spell = 2 * time.Second

// aside is the part of a spell in which people are told what became of jobs while pods are awaited or sent to their nodes: those come first.
const aside = spell / 8

// News says that something the backend looks at has changed.
func (w *Backend) News() { driver.Wake(w.Work) }

// Execute makes the cluster equal to the committed plan until ctx is done, another leader has
// taken over (ErrFenced), or the watches are found not to show what there is (ErrWatches). It
// only ever compares what the watches show with what is committed, and takes the next step
// towards it; in modes that do not act it only looks.
func (w *Backend) Execute(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return w.execute(ctx) })
	g.Go(func() error { return w.observer.Verify(ctx) })
	return g.Wait()
}

// execute looks and acts until ctx is done, or another leader has taken over.
func (w *Backend) execute(ctx context.Context) error {
	tick := time.NewTicker(glance)
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

// pass looks once and takes the steps that can be taken, as many as begin within a spell. Trouble with a job is that job's;
// trouble with looking is noted, and tried again.
func (w *Backend) pass(ctx context.Context) error {
	if err := w.observer.Hurry(ctx, w.overdue(time.Now())); err != nil {
		w.o.Log.Warn("pods that the watch is late to show cannot be read", "queue", w.o.Queue.Name, "err", err)
	}
	began := time.Now()
	s, err := w.observer.Observe(ctx)
	if err != nil {
		w.o.Log.Warn("cannot see the cluster, so everything stays as it is", "queue", w.o.Queue.Name, "err", err)
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
	telling := spell
	if slices.ContainsFunc(w.table.Order, (*jobstate.Job).Awaits) {
		telling = aside
	}
	w.Unlock()
	w.background.looked = time.Since(began)
	return w.carryOut(ctx, time.Now(), &writes{steps, scalings, transfers, news, telling})
}

// overdue reports whether watches are late to show something of a job.
func (w *Backend) overdue(now time.Time) bool {
	w.Lock()
	defer w.Unlock()
	return w.o.Acts() && slices.ContainsFunc(w.table.Order, func(e *jobstate.Job) bool { return e.Overdue(now, observe.Prompt) })
}

// writes is what a pass has to write.
type writes struct {
	steps     []execute.Step
	scalings  []nodepool.Scaling
	transfers []nodepool.Transfer
	news      []verdict
	telling   time.Duration // in which news are begun to be told
}

// carryOut writes, and begins nothing more after a spell from a time on, except what is to be done with nodes. A step that failed is not
// tried again at once, so that it keeps no other job waiting for long.
func (w *Backend) carryOut(ctx context.Context, from time.Time, all *writes) error {
	var g errgroup.Group
	g.SetLimit(parallel)
	for i := range all.scalings {
		g.Go(func() error { return w.nodes.CarryOutScaling(ctx, &all.scalings[i]) })
	}
	for i := range all.transfers {
		g.Go(func() error { w.nodes.MarkNode(ctx, &all.transfers[i]); return nil })
	}
	begun := each(&g, from.Add(spell), len(all.steps), func(i int) { w.writer.CarryOut(ctx, &all.steps[i]) })
	told := each(&g, from.Add(all.telling), len(all.news), func(i int) { w.publisher.publish(ctx, &all.news[i]) })
	w.publisher.putOff(all.news[told:])
	if begun < len(all.steps) || told < len(all.news) {
		w.News()
	}
	return g.Wait()
}

// each calls a function with 0 to n-1, in a group, until a time. It returns how often it did.
func each(g *errgroup.Group, until time.Time, n int, do func(i int)) int {
	for i := range n {
		if !time.Now().Before(until) {
			return i
		}
		g.Go(func() error { do(i); return nil })
	}
	return n
}
