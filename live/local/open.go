package local

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/live/eventqueue"
	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/live/supervisor"
	"github.com/oxgang/oxgang/scheduler"
)

// Open returns the world as the store has it: jobs that were live come back as Restored, in
// the order in which they were accepted; the executor takes up their processes. It keeps the
// store, which the caller closes.
func Open(s *store.Store, o Options) (*World, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("local: %w", err)
	}
	c, err := cluster.New([]cluster.Node{o.Machine.Node()})
	if err != nil {
		return nil, fmt.Errorf("local: %w", err)
	}
	w := &World{
		o: o, store: s, cluster: c, work: make(chan struct{}, 1),
		jobs: map[job.ID]*entry{}, tokens: map[string]job.ID{}, inbox: eventqueue.New(),
	}
	state, err := s.Load()
	if err != nil {
		return nil, fmt.Errorf("local: %w", err)
	}
	w.restore(state)
	return w, w.adopt()
}

// restore takes up what the store has.
func (w *World) restore(state *store.State) {
	w.round = state.Round
	for i := range state.Ended {
		old := &state.Ended[i]
		status := old.Job.Status
		status.Phase = phases[old.Job.Ended.Outcome]
		status.Allocation, status.Placement = cluster.Allocation{}, nil
		w.emit(scheduler.Restored{Spec: old.Job.Spec, Status: status, Reports: reports(old.Before)})
	}
	for i := range state.Jobs {
		old := &state.Jobs[i]
		e := &entry{Job: *old.Job, spoke: !old.Job.Spec.NoCheckpoint}
		w.fit(e)
		w.enter(e)
		w.emit(scheduler.Restored{Spec: e.Spec, Status: e.Status, Batch: e.Batch, Reports: reports(old.Before)})
		for _, r := range old.After {
			w.emit(scheduler.Reported{Report: r.Report})
		}
	}
}

// phases are those of jobs that have ended.
var phases = map[scheduler.Outcome]job.Phase{scheduler.Done: job.Completed, scheduler.Failed: job.Failed, scheduler.Cancelled: job.Cancelled}

func reports(known []store.Report) []job.Report {
	all := make([]job.Report, len(known))
	for i := range known {
		all[i] = known[i].Report
	}
	return all
}

// fit lets a job wait whose slots this machine does not have any more. The machine may have
// got another name: its only node has that.
func (w *World) fit(e *entry) {
	gone := func(s int) bool { return s >= len(w.o.Machine.Slots) }
	if slices.ContainsFunc(e.Held, gone) || len(e.Held) != e.Status.Allocation.GPUs || e.Status.Allocation.GPUType != w.o.Machine.Type {
		e.Held, e.unsaid = nil, len(e.Held) > 0
		e.Status.Phase, e.Status.Allocation, e.Status.Placement = job.Waiting, cluster.Allocation{}, nil
	}
	for i := range e.Status.Placement {
		e.Status.Placement[i].Node = cluster.NodeID(w.o.Machine.Name)
	}
}

// adopt finds the generations that have processes, whoever started them.
func (w *World) adopt() error {
	dirs, err := filepath.Glob(filepath.Join(w.o.Dir, "jobs", "*", "*", "launch.json"))
	if err != nil {
		return fmt.Errorf("local: %w", err)
	}
	for _, path := range dirs {
		dir := filepath.Dir(path)
		generation, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			continue
		}
		id := job.ID(filepath.Base(filepath.Dir(dir)))
		state, err := supervisor.Look(dir)
		if err != nil {
			return fmt.Errorf("local: job %s: %w", id, err)
		}
		w.found(id, generation, &state)
	}
	for _, e := range w.order {
		slices.SortFunc(e.runs, func(a, b *run) int { return cmp.Compare(a.generation, b.generation) })
	}
	return nil
}

// found takes up a generation if it has processes, or an end that nobody has heard of.
func (w *World) found(id job.ID, generation int, state *supervisor.State) {
	e := w.jobs[id]
	planned := e != nil && e.wants() && generation == e.Generation
	if state.Phase == supervisor.Ended && !planned {
		return
	}
	if e == nil { // it has ended, and its processes have not
		if state.Phase == supervisor.Gone {
			_ = supervisor.Sweep(Folder(w.o.Dir, id), w.tag(id, generation)) // the next start tries again
			return
		}
		e = &entry{Job: store.Job{Spec: &job.Spec{ID: id}}, ended: true}
		w.enter(e)
	}
	path := filepath.Join(w.folder(id, generation), "launch.json")
	r := &run{generation: generation, began: time.Now(), cores: pinned(path)}
	if planned {
		r.slots, r.allocation, r.step = e.Held, e.Status.Allocation, e.step()
		r.told = e.Status.Phase == job.Running
		if e.spoke {
			e.heard = time.Now()
		}
	}
	if info, err := os.Stat(path); err == nil {
		r.began = info.ModTime()
	}
	e.runs = append(e.runs, r)
}

// pinned returns the cores that the workers of a launch run on; nil: any.
func pinned(path string) []int {
	var l supervisor.Launch
	text, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(text, &l) != nil || len(l.Workers) == 0 {
		return nil
	}
	return l.Workers[0].CPUs
}
