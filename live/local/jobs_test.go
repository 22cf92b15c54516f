package local

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/local/statedir"
	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/live/supervisor"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// idle returns a backend that starts no process, with a job that runs its first start on two slots.
func idle(t *testing.T) (*Backend, *entry, *run) {
	t.Helper()
	o := DefaultOptions()
	o.Dir, o.Machine = t.TempDir(), slots(4)
	s, err := store.Open(o.Dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	j := &store.Job{Spec: &job.Spec{ID: "a", GPUs: 2}, Token: "token", Request: store.Request{Command: []string{"true"}, Dir: "/"}}
	if err := errors.Join(s.Accept(j), os.MkdirAll(filepath.Join(o.Dir, "jobs", "a"), 0o700)); err != nil {
		t.Fatal(err)
	}
	jobs := newJobTable(&o, s)
	b := &Backend{o: o, folders: statedir.Folders{Dir: o.Dir, Identity: s.Identity()}, Table: jobs.Table, jobs: jobs}
	e, r := newEntry(j), &run{generation: 1, slots: []int{0, 1}, step: 5, up: true, began: time.Now()}
	e.Generation, e.Held, e.hasClient, e.runs = 1, r.slots, true, []*run{r}
	jobs.add(e)
	return b, e, r
}

// events removes the events that wait and returns them.
func (b *Backend) events() (all []scheduler.Event) {
	b.jobs.Events.Drop(func(ev scheduler.Event) bool { all = append(all, ev); return true })
	return all
}

// How a start ended, and whether the job saved a checkpoint in it, decides whether this is a failure.
func TestSettle(t *testing.T) {
	gone, crashed, stopped := supervisor.State{Phase: supervisor.Gone}, supervisor.State{Phase: supervisor.Ended}, supervisor.State{Phase: supervisor.Ended}
	crashed.Workers, stopped.Workers = []supervisor.Exit{{Code: 1}, {}}, []supervisor.Exit{{Code: supervisor.TempFail}, {}}
	for name, tc := range map[string]struct {
		state    supervisor.State
		saved    int64 // step of the last checkpoint; the start began at step 5
		failures int   // before
		silent   bool  // no client
		outcome  scheduler.Outcome
		after    int // failures
	}{
		"stops after a checkpoint":         {stopped, 6, 1, false, scheduler.Lost, 1},
		"stops without a new checkpoint":   {stopped, 5, 1, false, scheduler.Lost, 2},
		"crashes after a checkpoint":       {crashed, 6, 1, false, scheduler.Lost, 2},
		"crashes without a new checkpoint": {crashed, 5, 0, false, scheduler.Lost, 1},
		"is killed after a checkpoint":     {gone, 6, 0, false, scheduler.Lost, 1},
		"fails for the third time":         {crashed, 5, maxFailures - 1, false, scheduler.Failed, maxFailures - 1},
		"stops without a client":           {stopped, 0, 0, true, scheduler.Lost, 1},
		"crashes without a client":         {crashed, 0, 0, true, scheduler.Failed, 0},
	} {
		b, e, r := idle(t)
		e.Failures, e.hasClient, e.Checkpoint = tc.failures, !tc.silent, &store.Checkpoint{Step: tc.saved}
		began := time.Now()
		if !b.jobs.settle(e, r, &statedir.Observation{State: tc.state}) {
			t.Errorf("%s: not written", name)
		}
		all := b.events()
		if exit, ok := all[len(all)-1].(scheduler.Exited); !ok || exit.Outcome != tc.outcome || e.Failures != tc.after {
			t.Errorf("a job that %s: %+v and %d failures, want %v and %d", name, all, e.Failures, tc.outcome, tc.after)
		}
		if waits := e.notBefore.Sub(began) >= backoff; waits != (tc.outcome == scheduler.Lost && tc.after > tc.failures) {
			t.Errorf("a job that %s: next start at %v", name, e.notBefore)
		}
	}
}

// The scheduler gets each report once, also if the agent sends it again after a restart of the scheduler.
func TestReport_once(t *testing.T) {
	b, e, _ := idle(t)
	r := job.Report{Job: "a", Interval: time.Second, Configuration: cluster.Configuration{Nodes: 1, GPUs: 2, GPUType: "cpu"}, Batch: job.BatchSize{Local: 4}, StepTime: time.Second, Progress: 8}
	for _, want := range []int{1, 0} {
		if err := b.jobs.report(e, &r); err != nil {
			t.Fatal(err)
		}
		if all := b.events(); len(all) != want {
			t.Errorf("%d events %+v, want %d", len(all), all, want)
		}
		e.stored = append(e.stored, r)
	}
}

// A full disk is reported until something can be written.
func TestWrote(t *testing.T) {
	b, _, _ := idle(t)
	for _, tc := range []struct {
		err  error
		full bool
	}{{nil, false}, {errors.New("other"), false}, {store.ErrFull, true}, {errors.New("other"), true}, {nil, false}} {
		if err := b.jobs.wrote(tc.err); !errors.Is(err, tc.err) || strings.Contains(b.Banner(), "retrying") != tc.full {
			t.Errorf("after %v: %v and %q, want that it is full: %t", tc.err, err, b.Banner(), tc.full)
		}
	}
}

// Once the scheduler has processed a loss, the job holds nothing, and its next plan is written even if it is the same.
func TestLose_frees_the_slots(t *testing.T) {
	b, e, _ := idle(t)
	b.jobs.lose(e, "killed", 0)
	if e.wants() || len(e.Held) != 2 {
		t.Errorf("it wants %t, on slots %v, want that it waits for the scheduler", e.wants(), e.Held)
	}
	if ev, _, err := b.Take(time.Now().Add(time.Hour)); err != nil || ev != (scheduler.Exited{Job: "a", Outcome: scheduler.Lost, Detail: "killed"}) {
		t.Errorf("event %+v, %v; want the loss", ev, err)
	}
	if len(e.Held) > 0 || !e.uncommitted || e.Lost {
		t.Errorf("slots %v, uncommitted %t, lost %t; want none, and that the next plan is written", e.Held, e.uncommitted, e.Lost)
	}
}

// A plan that starts a job again makes its loss obsolete, which would otherwise end the new start. A plan of the same
// start does not.
func TestWrite_retracts_losses_of_earlier_starts(t *testing.T) {
	for generation, want := range map[int]bool{1: true, 2: false} {
		b, e, _ := idle(t)
		b.jobs.lose(e, "killed", 0)
		status := job.Status{Phase: job.Restoring, Allocation: cluster.Allocation{Configuration: cluster.Configuration{Nodes: 1, GPUs: 2, GPUType: "cpu"}}}
		if err := b.write(&store.Plan{Round: 1, Changes: []store.Change{{Job: "a", Generation: generation, Held: []int{0, 1}, Status: status}}}); err != nil {
			t.Fatal(err)
		}
		if pending := len(b.events()) > 0; pending != want || e.Lost != want {
			t.Errorf("start %d: loss pending %t, lost %t, want %t", generation, pending, e.Lost, want)
		}
	}
}

// After a restart of the scheduler, a start that has been reported is not reported again, which would reset its progress.
func TestAdopt_reports_a_start_once(t *testing.T) {
	for phase, want := range map[job.Phase]bool{job.Running: true, job.Restoring: false} {
		b, e, _ := idle(t)
		e.runs, e.Status.Phase = nil, phase
		b.adoptOne(&statedir.Observation{Generation: statedir.Generation{Job: "a", Number: 1}, State: supervisor.State{Phase: supervisor.Running}})
		b.jobs.reportStart(e, e.run(1), nil)
		if silent := len(b.events()) == 0; silent != want {
			t.Errorf("%v: not reported %t, want %t", phase, silent, want)
		}
	}
}

// A start that is up is looked at once a second, one that is to stop in every pass.
func TestDue(t *testing.T) {
	b, _, r := idle(t)
	x := b.executor()
	for stop, want := range map[time.Time]int{{}: 1, time.Now().Add(time.Minute): 3} {
		r.stop, r.observed = stop, time.Time{}
		n := 0
		for range 3 {
			n += len(x.due())
		}
		if n != want {
			t.Errorf("to stop: %t: due %d times in three passes, want %d", !stop.IsZero(), n, want)
		}
	}
	if r.up = false; len(x.due())+len(x.due()) != 2 {
		t.Error("a start that is not up is not due in every pass")
	}
}

// If slots share GPUs, a job gets at most one worker on each GPU, unless it needs more.
func TestOnePerGPU(t *testing.T) {
	b, _, _ := idle(t)
	for _, visible := range [][]string{{"a", "a", "b", "b"}, {"a", "b", "c", "d"}} {
		for i, gpu := range visible {
			b.o.Machine.Slots[i].Visible = gpu
		}
		n := b.o.Machine.workers()
		for gpus, want := range map[int]int{1: 2, 2: 2, 3: 0} {
			if n == 4 {
				want = 0
			}
			spec := &job.Spec{GPUs: gpus, Adaptivity: job.GPUCount}
			if got := b.onePerGPU(spec).MaxGPUs; got != want {
				t.Errorf("%d GPUs, %d requested: at most %d, want %d", n, gpus, got, want)
			}
		}
	}
}

// This machine has a name, cores and memory.
func TestFindMachine(t *testing.T) {
	t.Setenv("CUDA_VISIBLE_DEVICES", "")
	m, err := FindMachine(1)
	if name, _ := os.Hostname(); err != nil || m.Name != name || m.CPUs <= 0 || m.Memory <= 0 || len(m.Slots) != 1 {
		t.Errorf("%+v, %v", m, err)
	}
}
