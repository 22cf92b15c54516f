package sim

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf/estimate"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/simulate/workload"
)

// Epoch is the time at which every simulation starts.
var Epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

const stallRounds = 10000

// A World is a simulated cluster on which the jobs of a trace arrive. It is a scheduler.Backend.
type World struct {
	o        Options
	beliefs  *estimate.Pool // makes the estimates of the agents
	in       input
	arrivals *workload.Pending // by time, then ID
	jobs     map[job.ID]*agent
	agenda   agenda
	ready    []scheduler.Event // events of the present time, not returned yet
	now      time.Time
	nodes    presence
	provider *provider
	lender   *lender
	held     int
	ended    time.Time // deadline of the last endRound
	round    round
	stalled  int // rounds counted by stuck
}

// New returns a World in which the jobs of arrivals are submitted to the cluster. Rented and loaned nodes follow
// Options.Provider and Options.Lender. Arrivals may be in any order, but must be complete (workload.Catalog.Complete).
// The World keeps pointers into them.
func New(c *cluster.Cluster, catalog workload.Catalog, arrivals []workload.Arrival, o Options) (*World, error) {
	w := &World{
		o: o, now: Epoch,
		jobs:  make(map[job.ID]*agent),
		nodes: presence{full: c, away: make(map[cluster.NodeID]int)},
	}
	w.in = input{o: &w.o, catalog: catalog, full: c}
	w.o.Estimate.Types = c.Types()
	w.beliefs = estimate.NewPool(&w.o.Estimate)
	all := sorted(arrivals)
	if err := w.in.validate(all); err != nil {
		return nil, fmt.Errorf("sim: %w", err)
	}
	w.arrivals = workload.NewPending(all)
	w.provider, w.lender = newProvider(w), newLender(w)
	w.plan()
	return w, nil
}

func sorted(arrivals []workload.Arrival) []*workload.Arrival {
	all := make([]*workload.Arrival, len(arrivals))
	for i := range arrivals {
		all[i] = &arrivals[i]
	}
	slices.SortStableFunc(all, func(a, b *workload.Arrival) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Spec.ID, b.Spec.ID))
	})
	return all
}

// Now implements scheduler.Backend.
func (w *World) Now() time.Time { return w.now }

// Next implements scheduler.Backend.
func (w *World) Next(ctx context.Context, deadline time.Time) (scheduler.Event, error) {
	deadline = w.openRound(deadline)
	for {
		if len(w.ready) > 0 {
			ev := w.ready[0]
			w.ready = w.ready[1:]
			return ev, nil
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(w.jobs) == 0 && w.arrivals.Len() == 0 {
			return nil, io.EOF
		}
		if w.called() {
			deadline = w.now
		}
		at, ok := w.next()
		if !ok || at.After(deadline) {
			w.now = later(w.now, deadline)
			if w.endRound(); len(w.ready) > 0 {
				continue
			}
			w.round.open, w.round.fresh = false, false
			return nil, w.stuck()
		}
		w.now = at
		w.happen()
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (w *World) next() (time.Time, bool) {
	at, ok := w.agenda.peek()
	if w.arrivals.Len() > 0 {
		if t := Epoch.Add(w.arrivals.At()); !ok || t.Before(at) {
			return t, true
		}
	}
	return at, ok
}

func (w *World) happen() {
	for {
		at, ok := w.agenda.peek()
		if !ok || at.After(w.now) {
			break
		}
		w.agenda.pop().happen(w)
	}
	for w.arrivals.Len() > 0 && !Epoch.Add(w.arrivals.At()).After(w.now) {
		w.arrive(w.arrivals.Take())
	}
}

func (w *World) arrive(a *workload.Arrival) {
	g := newAgent(w, a)
	w.jobs[g.spec.ID] = g
	if a.CancelAfter > 0 {
		w.agenda.push(entry{at: w.now.Add(a.CancelAfter), what: func(w *World) {
			if w.jobs[g.spec.ID] == g {
				w.exit(g, scheduler.Exited{Job: g.spec.ID, Outcome: scheduler.Cancelled, Detail: "cancelled by its user"})
			}
		}})
	}
	w.round.fresh = true
	if s := w.o.Initial[g.spec.ID]; s != nil {
		w.begin(g, s)
		return
	}
	w.emit(scheduler.Submitted{Spec: g.spec})
}

func (w *World) emit(ev scheduler.Event) { w.ready = append(w.ready, ev) }

func (w *World) exit(g *agent, ev scheduler.Exited) {
	w.stop(g)
	delete(w.jobs, g.spec.ID)
	w.emit(ev)
}

func (w *World) stop(g *agent) {
	if g.holding() {
		w.held--
	}
	g.halt()
}

// stuck counts the rounds in which jobs wait and nothing can change that: no job holds GPUs, none will arrive
// and no maintenance will end.
func (w *World) stuck() error {
	if w.held > 0 || w.arrivals.Len() > 0 || len(w.jobs) == 0 || w.maintenance() {
		w.stalled = 0
		return nil
	}
	if w.stalled++; w.stalled < stallRounds {
		return nil
	}
	names := make([]string, 0, len(w.jobs))
	for id := range w.jobs {
		names = append(names, string(id))
	}
	slices.Sort(names)
	return fmt.Errorf("sim: stuck: no job runs, and %s waited for %d rounds: %s", printable.Count(len(names), "job"), stallRounds, strings.Join(names[:min(5, len(names))], ", "))
}

func (w *World) maintenance() bool {
	return slices.ContainsFunc(w.o.Faults.Maintenance, func(win Window) bool { return w.now.Before(Epoch.Add(win.To)) })
}

// Do implements scheduler.Backend. It executes actions in order, because the scheduler frees GPUs before it assigns
// them. Background work takes no virtual time.
func (w *World) Do(ctx context.Context, acts []scheduler.Action) error {
	for _, a := range acts {
		var err error
		switch a := a.(type) {
		case scheduler.Preempt:
			err = w.with(a.Job, w.preempt)
		case scheduler.Run:
			err = w.with(a.Job, func(g *agent) { w.run(g, a) })
		case scheduler.Profile:
			err = w.with(a.Job, func(g *agent) { g.profile(w, a.Types) })
		case scheduler.Compute:
			w.emit(scheduler.Computed{Result: a.Work.Do(ctx)})
		case scheduler.Provision:
			err = w.provision(a)
		case scheduler.Return:
			err = w.giveBack(a)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *World) provision(a scheduler.Provision) error {
	if w.lender.pool(a.Group) != nil {
		return w.lender.Provision(a.Group, a.Nodes)
	}
	return w.provider.Provision(a.Group, a.Nodes)
}

func (w *World) giveBack(a scheduler.Return) error {
	var lent, rented []cluster.NodeID
	for _, id := range a.Nodes {
		if w.lender.nodes[id] != nil {
			lent = append(lent, id)
		} else {
			rented = append(rented, id)
		}
	}
	if len(lent) == 0 {
		return w.provider.Return(rented)
	}
	if len(rented) > 0 {
		if err := w.provider.Return(rented); err != nil {
			return err
		}
	}
	return w.lender.Return(lent)
}

func (w *World) with(id job.ID, do func(*agent)) error {
	g, ok := w.jobs[id]
	if !ok {
		return fmt.Errorf("sim: job %s: no such job is live", id)
	}
	do(g)
	return nil
}

func (w *World) preempt(g *agent) {
	g.settle(w)
	g.checkpoint()
	g.lose()
	w.stop(g)
}

func (w *World) run(g *agent, a scheduler.Run) {
	if !g.holding() {
		w.held++
	}
	g.settle(w)
	g.checkpoint()
	g.run(w, a)
}
