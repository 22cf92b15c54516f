package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/live/supervisor"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/registry"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/schedulertest"
)

// TestMain lets the test binary be what else its tests need.
func TestMain(m *testing.M) {
	if role := roles[os.Args[min(1, len(os.Args)-1)]]; role != nil {
		if err := role(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	backoff, overdue = 500*time.Millisecond, 3*time.Second
	os.Exit(m.Run())
}

func slots(n int) Machine {
	m := Machine{Name: "box", Type: "cpu"}
	for range n {
		m.Slots = append(m.Slots, slot{})
	}
	return m
}

// options are those of a backend in a directory of the test, in a hurry.
func options(t testing.TB, n int) Options {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o := DefaultOptions()
	o.Dir, o.Machine, o.Supervisor = t.TempDir(), slots(n), []string{self, "keeper"}
	o.Grace, o.Report, o.Quiet = 2*time.Second, 100*time.Millisecond, 100*time.Millisecond
	return o
}

// abandoned has the backends whose processes outlive them, as those of a killed scheduler do.
var abandoned sync.Map

// open opens a backend, and runs its executor until the test ends.
func open(t testing.TB, o Options) *Backend {
	t.Helper()
	if testing.Short() {
		t.Skip("starts processes")
	}
	s, err := store.Open(o.Dir)
	if err != nil {
		t.Fatal(err)
	}
	w, err := Open(s, o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = w.Execute(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		if _, left := abandoned.Load(w); !left {
			w.kill(t)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// kill stops whatever still runs, at once.
func (b *Backend) kill(t testing.TB) {
	t.Helper()
	for _, e := range b.jobs.Order {
		for _, r := range e.runs {
			dir := b.folders.Generation(e.name(r))
			if err := supervisor.Stop(dir, supervisor.Notice{Deadline: time.Now()}); err != nil {
				t.Error(err)
			}
			await(t, "the end of "+dir, func() bool {
				s, err := supervisor.Look(dir)
				return err == nil && (s.Phase == supervisor.Ended || s.Phase == supervisor.Absent || s.Phase == supervisor.Gone)
			})
		}
	}
}

// await waits until something holds.
func await(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited 20 s for %s", what)
		}
	}
}

// submit submits a shell script.
func (b *Backend) shell(t testing.TB, name, script string, gpus int) job.ID {
	t.Helper()
	spec := &job.Spec{GPUs: gpus, Adaptivity: job.Rigid}
	id, err := b.Submit(name, spec, store.Request{Command: []string{"/bin/sh", "-c", script}, Dir: b.o.Dir, Env: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// plan is the machine with a policy over a backend.
func plan(t testing.TB, w *Backend, name string, round time.Duration) *scheduler.Scheduler {
	t.Helper()
	entry, err := registry.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	p, err := entry.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	placer, err := entry.NewPlacer("", registry.PlacerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	o := scheduler.DefaultOptions()
	o.Round, o.Profile, o.Estimate.Share = round, false, true
	s, err := scheduler.New(p, placer, w.Cluster(), o)
	if err != nil {
		t.Fatal(err)
	}
	w.Follow(time.Minute, func(now time.Time) []*policy.Job { return s.Snapshot(now).Jobs })
	return s
}

// A round is so long that a commit ends in it where the disk is slow.
func TestConformance(t *testing.T) {
	schedulertest.Run(t, func(t testing.TB) scheduler.Backend {
		w := open(t, options(t, 4))
		w.shell(t, "one", "sleep 3", 1)
		w.shell(t, "two", "sleep 0.1; exit 3", 2)
		w.shell(t, "four", "true", 4)
		w.Drain()
		return w
	}, func(ctx context.Context, b scheduler.Backend) error {
		c, err := cluster.New([]cluster.Node{slots(4).Node()})
		if err != nil {
			return err
		}
		return schedulertest.DriveEvery(2*time.Second, c)(ctx, b)
	})
}

func TestRun_under_Sia(t *testing.T) {
	w := open(t, options(t, 4))
	out := filepath.Join(w.o.Dir, "out")
	for i := range 6 {
		w.shell(t, "job", fmt.Sprintf("echo $RANK of $WORLD_SIZE >> %s; sleep 0.2", out), 1+i%2)
	}
	w.Drain()
	if err := plan(t, w, "sia", 200*time.Millisecond).Run(t.Context(), w, w); err != nil {
		t.Fatal(err)
	}
	jobs, err := w.jobs.store.Jobs(true)
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range jobs {
		if j.Ended == nil || j.Ended.Outcome != scheduler.Done || j.Generation != 1 {
			t.Errorf("job %s: ended %+v in generation %d, want it done in the first", j.Spec.ID, j.Ended, j.Generation)
		}
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(text); got != 9*len("0 of 1\n") {
		t.Errorf("%d bytes from the workers, want a line of each of 9:\n%s", got, text)
	}
}

func TestNext_waits_for_background_work(t *testing.T) {
	w := open(t, options(t, 4))
	w.Drain()
	schedulertest.RunDrained(t, w)
}
