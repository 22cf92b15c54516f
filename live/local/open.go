package local

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/oxgang/oxgang/live/local/statedir"
	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/live/supervisor"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// Open returns a Backend with the state of the store, which the caller closes. Unfinished jobs become events Restored
// in the order of acceptance, and keep their processes. If the store lacks jobs, starts or ends that the folders of
// jobs show, Open changes nothing and returns an error that wraps statedir.ErrLost.
func Open(s *store.Store, o Options) (*Backend, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("local: %w", err)
	}
	c, err := cluster.New([]cluster.Node{o.Machine.Node()})
	if err != nil {
		return nil, fmt.Errorf("local: %w", err)
	}
	w := &Backend{o: o, folders: statedir.Folders{Dir: o.Dir, Identity: s.Identity()}, cluster: c}
	w.jobs = newJobTable(&w.o, s)
	w.Table = w.jobs.Table
	if err := statedir.Check(s, &w.folders); err != nil {
		return nil, fmt.Errorf("local: %w", err)
	}
	state, err := s.Load()
	if err != nil {
		return nil, fmt.Errorf("local: %w", err)
	}
	w.restore(state)
	w.jobs.admit()
	err = w.adopt()
	w.jobs.Events.Begin()
	return w, err
}

func (b *Backend) restore(state *store.State) {
	b.round = state.Round
	for i := range state.Ended {
		old := &state.Ended[i]
		status := old.Job.Status
		status.Phase = phases[old.Job.Ended.Outcome]
		status.Allocation, status.Placement = cluster.Allocation{}, nil
		b.jobs.Events.Emit(scheduler.Restored{Spec: old.Job.Spec, Status: status, Reports: reports(old.Before)})
	}
	for i := range state.Jobs {
		old := &state.Jobs[i]
		e := newEntry(old.Job)
		e.hasClient, e.stored = !e.Spec.NoCheckpoint, append(reports(old.Before), reports(old.After)...)
		b.jobs.remember(e, nil)
		b.fit(e)
		b.jobs.add(e)
		if _, limited := b.o.Quotas.most(e.Request.User); limited && e.Generation == 0 { // a job that has started continues
			e.withheld = true
			continue
		}
		b.jobs.Events.Emit(scheduler.Restored{Spec: e.Spec, Status: e.Status, Batch: e.Batch, Reports: reports(old.Before)})
		for _, r := range old.After {
			b.jobs.Events.Emit(scheduler.Reported{Report: r.Report})
		}
	}
}

var phases = map[scheduler.Outcome]job.Phase{scheduler.Done: job.Completed, scheduler.Failed: job.Failed, scheduler.Cancelled: job.Cancelled}

func reports(known []store.Report) []job.Report {
	all := make([]job.Report, len(known))
	for i := range known {
		all[i] = known[i].Report
	}
	return all
}

func (b *Backend) fit(e *entry) {
	gone := func(s int) bool { return s >= len(b.o.Machine.Slots) }
	if slices.ContainsFunc(e.Held, gone) || len(e.Held) != e.Status.Allocation.GPUs || e.Status.Allocation.GPUType != b.o.Machine.Type {
		e.Held, e.uncommitted = nil, len(e.Held) > 0
		e.Status.Phase, e.Status.Allocation, e.Status.Placement = job.Waiting, cluster.Allocation{}, nil
	}
	for i := range e.Status.Placement {
		e.Status.Placement[i].Node = cluster.NodeID(b.o.Machine.Name)
	}
}

func (b *Backend) adopt() error {
	all, err := statedir.All(&b.folders)
	if err != nil {
		return fmt.Errorf("local: %w", err)
	}
	for _, o := range all {
		b.adoptOne(o)
	}
	for _, e := range b.jobs.Order {
		slices.SortFunc(e.runs, func(x, y *run) int { return cmp.Compare(x.generation, y.generation) })
	}
	return nil
}

func (b *Backend) adoptOne(o *statedir.Observation) {
	e := b.jobs.ByID[o.Job]
	planned := e != nil && e.wants() && o.Number == e.Generation
	done := e != nil && e.hasClient && o.Succeeded() // it succeeded when the next generation was planned, without a scheduler
	if o.State.Phase == supervisor.Ended && !planned && !done {
		return
	}
	if e == nil { // it has ended, but not its processes
		if o.State.Phase == supervisor.Gone {
			_ = statedir.Sweep(&b.folders, o.Generation)
			return
		}
		e = newEntry(&store.Job{Spec: &job.Spec{ID: o.Job}})
		e.Over = true
		b.jobs.add(e)
	}
	r := &run{generation: o.Number, began: o.Began, cores: o.Cores}
	if planned {
		r.slots, r.allocation, r.step = e.Held, e.Status.Allocation, e.checkpointStep()
		r.announced = e.Status.Phase == job.Running
		if e.hasClient {
			e.Heard = time.Now()
		}
	}
	e.runs = append(e.runs, r)
}
