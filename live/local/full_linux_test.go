package local

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/oxgang/oxgang/live/agentapi"
	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// A disk is one of 2 MB with a state directory.
type disk struct {
	t   *testing.T
	dir string
}

func newDisk(t *testing.T) disk {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("NOT TESTED: a full disk. Mounting a small one needs root")
	}
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=2m"); err != nil {
		t.Skip("NOT TESTED: a full disk. Mounting a small one:", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return disk{t, dir}
}

// options are those of a backend on the disk.
func (d disk) options(n int) Options {
	d.t.Helper()
	o := options(d.t, n)
	o.Dir, o.LogBytes = filepath.Join(d.dir, "state"), 16<<10
	return o
}

// fill leaves so many bytes.
func (d disk) fill(left int64) {
	var fs syscall.Statfs_t
	err := syscall.Statfs(d.dir, &fs)
	if err == nil {
		err = os.WriteFile(filepath.Join(d.dir, "ballast"), make([]byte, max(0, int64(fs.Bavail)*fs.Bsize-left)), 0o600)
	}
	if err != nil {
		d.t.Error(err)
	}
}

func (d disk) clear() {
	if err := os.Remove(filepath.Join(d.dir, "ballast")); err != nil {
		d.t.Error(err)
	}
}

// hooked has the test called at every step of the backend that is made next.
func hooked(t *testing.T, f func(step string)) {
	t.Helper()
	before := hook
	t.Cleanup(func() { hook = before })
	hook = f
}

// The disk of the state directory fills up while jobs run: they go on, plans wait, and the
// banner says why; when there is room it all goes on, once. Source: reliability, fault F14.
func TestFullDisk(t *testing.T) {
	for _, apart := range []bool{false, true} {
		t.Run(fmt.Sprintf("directories of jobs on another: %v", apart), func(t *testing.T) {
			t.Parallel()
			d := newDisk(t)
			o := d.options(4)
			if err := os.Mkdir(o.Dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if apart {
				if err := os.Symlink(t.TempDir(), filepath.Join(o.Dir, "jobs")); err != nil {
					t.Fatal(err)
				}
			}
			fullDisk(newStage(t, o), d, apart)
		})
	}
}

// fullDisk fills the disk under four jobs: of two that run one ends, one is killed, and one
// waits.
func fullDisk(s *stage, d disk, apart bool) {
	t := s.t
	steady, _ := s.speaks("steady")
	killed, _ := s.speaks("killed")
	door := filepath.Join(t.TempDir(), "door")
	ends := s.shell(t, "ends", "until [ -e "+door+" ]; do sleep 0.02; done", 1)
	s.up(ends, 1)
	waits := s.shell(t, "waits", "true", 2)
	runs := workers(t, s.folder(steady, 1))[0]

	d.fill(0)
	s.reportUntilFull(steady)
	if _, err := s.Submit("late", &job.Spec{GPUs: 1}, store.Request{Command: []string{"true"}, Dir: "/"}); !errors.Is(err, store.ErrFull) {
		t.Errorf("submitted: %v, want it to say that the disk is full", err)
	}
	if err := os.WriteFile(door, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	victim := workers(t, s.folder(killed, 1))[0]
	if err := kill9(victim); err != nil {
		t.Fatal(err)
	}
	want := "cannot store what happens to jobs"
	if apart {
		want = "cannot store plans"
	}
	await(t, "the banner: "+want, func() bool {
		return strings.HasPrefix(s.Banner(), want) && strings.Contains(s.Banner(), "the disk is full") && !lives(victim)
	})
	if all := s.Live(); len(all) != 4 || s.job(killed).Generation != 1 || !lives(runs) {
		t.Errorf("full: %d jobs, the killed one in generation %d, the steady one lives: %v; want 4, 1, true", len(all), s.job(killed).Generation, lives(runs))
	}

	d.clear()
	for _, id := range []job.ID{ends, waits} {
		if end := s.ended(id); end.Outcome != scheduler.Done {
			t.Errorf("job %s ended %+v, want it done", id, end)
		}
	}
	s.up(killed, 2)
	if l := s.job(steady); l.Generation != 1 || !lives(runs) || len(s.Live()) != 2 || s.Banner() != "" {
		t.Errorf("then: the steady job in generation %d, lives: %v; %d jobs, banner %q; want 1, true, 2 and none", l.Generation, lives(runs), len(s.Live()), s.Banner())
	}
}

// reportUntilFull has a job report until that cannot be written down.
func (s *stage) reportUntilFull(id job.ID) {
	s.t.Helper()
	r := agentapi.Report{Generation: 1, Batch: agentapi.Batch{Local: 64}, Progress: 1e6, StepTime: 0.01}
	for range 1000 {
		if _, err := s.Agents().Report(s.t.Context(), id, &r); err != nil {
			if !errors.Is(err, store.ErrFull) {
				s.t.Fatal(err)
			}
			return
		}
	}
	s.t.Fatal("1000 reports on a full disk")
}

// A hello that is said again because it could not be written down is no second start.
func TestFullDisk_at_a_hello(t *testing.T) {
	d := newDisk(t)
	s := newStage(t, d.options(2))
	id, other := s.shell(t, "job", "exec sleep 1000", 1), s.shell(t, "other", "exec sleep 1000", 1)
	s.up(id, 1)
	s.up(other, 1)
	d.fill(0)
	s.reportUntilFull(other)
	hello := &agentapi.Hello{Version: 1, Generation: 1, WorldSize: 1, Batch: agentapi.BatchLimits{Init: 64, Max: 64}}
	for range 2 {
		if _, err := s.Agents().Hello(t.Context(), id, hello); !errors.Is(err, store.ErrFull) {
			t.Errorf("got %v, want that the disk is full", err)
		}
	}
	d.clear()
	s.Lock()
	defer s.Unlock()
	if n := s.jobs.ByID[id].Starts.N; n != 1 {
		t.Errorf("%d starts measured, want 1", n)
	}
}

// A start finds no room for one of its files, whichever: the job is not lost, and is started
// once when there is room.
func TestFullDisk_at_a_start(t *testing.T) {
	for pages := range 4 {
		t.Run(fmt.Sprintf("%d pages left", pages), func(t *testing.T) {
			d := newDisk(t)
			var tries atomic.Int32
			hooked(t, func(step string) {
				if step == "start: before the supervisor" && tries.Add(1) == 1 {
					d.fill(int64(pages) * 4096)
				}
			})
			s := newStage(t, d.options(1))
			out := filepath.Join(t.TempDir(), "out")
			id := s.script("job", "echo begun >> "+out, &job.Spec{GPUs: 1, Adaptivity: job.Rigid})
			await(t, "a second try, or none needed", func() bool { return tries.Load() > 1 || s.job(id).Up || wrote(out) })
			d.clear()
			if end := s.ended(id); end.Outcome != scheduler.Done {
				t.Errorf("ended %+v, want it done", end)
			}
			if text, err := os.ReadFile(out); err != nil || string(text) != "begun\n" {
				t.Errorf("it wrote %q (%v), want it begun once", text, err)
			}
		})
	}
}

func wrote(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Size() > 0
}

// Notice that finds no room is given when there is.
func TestFullDisk_at_a_stop(t *testing.T) {
	d := newDisk(t)
	var tries atomic.Int32
	hooked(t, func(step string) {
		if step == "stop: before the notice" && tries.Add(1) == 1 {
			d.fill(0)
		}
	})
	s := newStage(t, d.options(1))
	id := s.shell(t, "job", "exec sleep 1000", 1)
	s.up(id, 1)
	pid := workers(t, s.folder(id, 1))[0]
	if err := s.Cancel(id); err != nil {
		t.Fatal(err)
	}
	await(t, "a second try", func() bool { return tries.Load() > 1 })
	d.clear()
	await(t, "the end of its worker", func() bool { return !lives(pid) })
}
