package local

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/live/supervisor"
)

// A step brings processes closer to the plan.
type step struct {
	job job.ID
	do  func() error
}

// steps returns what can be done now: everything that has to stop, and every start whose
// slots nobody is on.
func (w *World) steps() []step {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []step
	for _, e := range w.order {
		for _, r := range e.runs {
			if r.stop.IsZero() && (!e.wants() || r.generation != e.Generation) {
				all = append(all, w.halt(e, r))
			}
		}
	}
	taken, blind := w.taken()
	for _, e := range w.order {
		if !e.wants() || len(e.runs) > 0 || blind || time.Now().Before(e.notBefore) {
			continue
		}
		if !slices.ContainsFunc(e.Held, func(s int) bool { return taken[s] }) {
			all = append(all, w.start(e))
		}
	}
	return all
}

// taken returns the slots that have processes on them; blind: of some it is not known which.
func (w *World) taken() (taken map[int]bool, blind bool) {
	taken = make(map[int]bool)
	for _, e := range w.order {
		for _, r := range e.runs {
			blind = blind || r.slots == nil
			for _, s := range r.slots {
				taken[s] = true
			}
		}
	}
	return taken, blind
}

// halt gives a generation notice: it may end its step and write a checkpoint. Notice that
// cannot be written, on a full disk say, is given again.
func (w *World) halt(e *entry, r *run) step {
	r.stop, r.why = time.Now().Add(w.o.Grace), "its GPUs are given to others, or it is to have other ones"
	if e.ended {
		r.why = "the job has ended"
	}
	notice := supervisor.Notice{Deadline: r.stop, Reason: r.why}
	dir := w.folder(e.Spec.ID, r.generation)
	return step{e.Spec.ID, func() error {
		hook("stop: before the notice")
		err := supervisor.Stop(dir, notice)
		hook("stop: noticed")
		if err != nil {
			w.mu.Lock()
			r.stop = time.Time{}
			w.mu.Unlock()
		}
		return err
	}}
}

// start begins the planned generation of a job.
func (w *World) start(e *entry) step {
	r := &run{generation: e.Generation, slots: e.Held, allocation: e.Status.Allocation, began: time.Now(), step: e.step()}
	e.runs = append(e.runs, r)
	e.heard = time.Time{}
	w.speak(e) // a start is the scheduler's own doing: it is no silence
	launch := w.launch(e)
	dir := w.folder(e.Spec.ID, r.generation)
	return step{e.Spec.ID, func() error {
		hook("start: before the keeper")
		err := supervisor.Start(w.o.Keeper, dir, launch)
		hook("start: kept")
		if err != nil { // once more, but not at every glance
			w.mu.Lock()
			e.notBefore = time.Now().Add(backoff)
			w.mu.Unlock()
		}
		return err
	}}
}

// launch returns what a keeper has to know of a job's planned generation.
func (w *World) launch(e *entry) *supervisor.Launch {
	id := e.Spec.ID
	l := &supervisor.Launch{
		Job: string(id), Generation: e.Generation, Tag: w.tag(id, e.Generation),
		Command: e.Request.Command, Dir: e.Request.Dir, Env: append(slices.Clip(e.Request.Env), w.environment(e)...),
		Log: LogFile(w.o.Dir, id), LogBytes: w.o.LogBytes, LogFiles: w.o.LogFiles, Grace: w.o.Grace, Cgroup: w.o.Cgroup,
	}
	n := len(e.Held)
	cpus := e.Status.Allocation.CPUs / float64(n)
	cores := w.cores(e)
	for _, s := range e.Held {
		worker := supervisor.Worker{CPUs: cores, Memory: e.Status.Allocation.Memory / int64(n)}
		worker.Env = []string{"OXGANG_SLOT=" + strconv.Itoa(s), "OMP_NUM_THREADS=" + strconv.Itoa(max(1, int(cpus)))}
		if slot := w.o.Machine.Slots[s]; slot.Shared {
			worker.Env = append(worker.Env, "CUDA_VISIBLE_DEVICES="+slot.Visible)
		}
		if cpus > 0 {
			worker.Env = append(worker.Env, fmt.Sprintf("OXGANG_CPUS=%g", cpus))
		}
		if worker.Memory > 0 {
			worker.Env = append(worker.Env, fmt.Sprintf("OXGANG_MEMORY=%d", worker.Memory))
		}
		l.Workers = append(l.Workers, worker)
	}
	return l
}

// environment returns what all workers of a job are told.
func (w *World) environment(e *entry) []string {
	env := []string{
		"OXGANG_SOCKET=" + w.o.Socket, "OXGANG_URL=" + w.o.URL, "OXGANG_TOKEN=" + e.Token,
		"OXGANG_JOB=" + string(e.Spec.ID), "OXGANG_GENERATION=" + strconv.Itoa(e.Generation),
		"OXGANG_CHECKPOINTS=" + Folder(w.o.Dir, e.Spec.ID) + "/checkpoints",
	}
	if w.shared(e) {
		return append(env, "OXGANG_SHARED_GPU=1") // each worker sees its own
	}
	visible := make([]string, len(e.Held))
	for rank, s := range e.Held {
		visible[rank] = w.o.Machine.Slots[s].Visible
	}
	return append(env, "CUDA_VISIBLE_DEVICES="+strings.Trim(strings.Join(visible, ","), ","))
}

// shared reports whether workers of a job are on GPUs that have several slots.
func (w *World) shared(e *entry) bool {
	return slices.ContainsFunc(e.Held, func(s int) bool { return w.o.Machine.Slots[s].Shared })
}

// cores returns the cores on which a job's workers run: as many whole ones as the plan gives
// it, of those that no other job has; nil, any, if that is less than one or they are short.
func (w *World) cores(e *entry) []int {
	want := int(e.Status.Allocation.CPUs)
	if want < 1 || w.o.Machine.Cores == nil {
		return nil
	}
	used := make(map[int]bool)
	for _, o := range w.order {
		for _, r := range o.runs {
			for _, c := range r.cores {
				used[c] = true
			}
		}
	}
	var mine []int
	for _, c := range w.o.Machine.Cores {
		if !used[c] && len(mine) < want {
			mine = append(mine, c)
		}
	}
	if len(mine) < want {
		return nil
	}
	e.runs[len(e.runs)-1].cores = mine
	return mine
}

// tag marks the processes of a generation, uniquely on the machine.
func (w *World) tag(id job.ID, generation int) string {
	return fmt.Sprintf("%s/%s/%d", w.store.Identity(), id, generation)
}

// makeFolder makes the directory of a job.
func (w *World) makeFolder(id job.ID) error {
	return os.MkdirAll(Folder(w.o.Dir, id)+"/checkpoints", 0o700)
}
