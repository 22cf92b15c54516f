package serve

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/control"
	"github.com/oxgang/oxgang/live/local"
	"github.com/oxgang/oxgang/model/job"
)

// Commands that go wrong at once, or end at once, end their job and say why.
func TestCommands_that_end_at_once(t *testing.T) {
	t.Parallel()
	s := start(t, options(t))
	ids := map[job.ID][2]string{ // what is wanted: outcome, and in the detail
		s.submit("done", "true"):                                     {"done", ""},
		s.submit("says", "sh", "-c", "echo the last word; exit 3"):   {"failed", "worker 0: exit code 3; its last lines:\nthe last word"},
		s.submit("kills", "sh", "-c", "echo mine; kill -9 $$"):       {"failed", "worker 0: signal 9; its last lines:\nmine"},
		s.submit("binary", "sh", "-c", `printf '\377\000x'; exit 1`): {"failed", "worker 0: exit code 1"},
	}
	for id, want := range ids {
		if v := s.ended(id); v.Outcome != want[0] || !strings.Contains(v.Detail, want[1]) || v.Restarts != 0 {
			t.Errorf("job %s: %s after %d restarts: %s; want %s: %s", id, v.Outcome, v.Restarts, v.Detail, want[0], want[1])
		}
		if err := s.Cancel(t.Context(), id); err == nil || !strings.Contains(err.Error(), "it has ended already ("+want[0]+")") {
			t.Errorf("job %s: cancelled: %v, want that it has ended already", id, err)
		}
	}
}

// What can never run is refused at once, in words.
func TestRefused(t *testing.T) {
	t.Parallel()
	s := start(t, options(t))
	plain := filepath.Join(s.o.Dir, "plain")
	if err := os.WriteFile(plain, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*control.Request){
		"gpus 5: ":        func(r *control.Request) { r.GPUs = control.Range{Min: 5, Max: 5} },
		"gpu type h200: ": func(r *control.Request) { r.GPUTypes = append(r.GPUTypes, "h200") },
		"dir: stat /nowhere: no such file or directory": func(r *control.Request) { r.Dir = "/nowhere" },
		"dir /etc/passwd: not a directory":              func(r *control.Request) { r.Dir = "/etc/passwd" },
		`env "alone", want NAME=value`:                  func(r *control.Request) { r.Env = []string{"alone"} },
		"command: empty, want a program":                func(r *control.Request) { r.Command = nil },
		"pithon: executable file not found in $PATH":    func(r *control.Request) { r.Command = []string{"pithon", "train.py"} },
		"./train: no such file or directory":            func(r *control.Request) { r.Command = []string{"./train"} },
		"plain: permission denied":                      func(r *control.Request) { r.Command = []string{plain} },
	} {
		r := s.request("job", "true")
		change(r)
		if _, err := s.Submit(t.Context(), r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if now, err := s.Status(t.Context(), true); err != nil || len(now.All()) != 0 {
		t.Errorf("%d jobs (%v), want none of those refused", len(now.All()), err)
	}
}

// One that ignores SIGTERM is killed at the deadline; what programs leave behind is gone when
// their job is over, in whatever session.
func TestProcesses_that_stay(t *testing.T) {
	t.Parallel()
	s := start(t, options(t))
	deaf := s.submit("deaf", "sh", "-c", `trap "" TERM; echo $$ > deaf; while :; do sleep 0.1; done`)
	s.submit("leaves", "sh", "-c", `setsid sh -c 'trap "" TERM; echo $$ > left; exec sleep 1000' & while [ ! -s left ]; do sleep 0.01; done`)
	p, left := pid(t, filepath.Join(s.o.Dir, "deaf")), pid(t, filepath.Join(s.o.Dir, "left"))
	if v := s.ended("leaves"); v.Outcome != "done" || lives(left) {
		t.Errorf("%s %s; what it left lives: %v; want it done, and that gone", v.Outcome, v.Detail, lives(left))
	}
	cancelled := time.Now()
	if err := s.Cancel(t.Context(), deaf); err != nil {
		t.Fatal(err)
	}
	if v := s.view(deaf); v.Outcome != "cancelled" {
		t.Errorf("got %s, want cancelled", v.Outcome)
	}
	await(t, "the end of one that ignores SIGTERM", func() bool { return !lives(p) })
	if took := time.Since(cancelled); took < s.o.Grace || took > s.o.Grace+5*time.Second {
		t.Errorf("gone after %v, want after the grace of %v", took, s.o.Grace)
	}
}

// A program that never reports is left to run: it is shown as running, and not preempted for
// those that come. One that waits for it starts once it is cancelled, if its directory is
// still there.
func TestProgram_that_never_reports(t *testing.T) {
	t.Parallel()
	s := start(t, options(t))
	id := s.submit("mute", "sh", "-c", "echo $$ > mute; exec sleep 1000")
	await(t, "phase running", func() bool { return s.view(id).Phase == "running" })
	r := s.request("greedy", "true")
	r.GPUs, r.Dir = control.Range{Min: 4, Max: 4}, t.TempDir()
	greedy, err := s.Submit(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		s.ended(s.submit(fmt.Sprint("passes-", i), "true"))
	}
	if v := s.view(id); v.Phase != "running" || v.Restarts != 0 || v.GPUs != 1 || !lives(pid(t, filepath.Join(s.o.Dir, "mute"))) {
		t.Errorf("got %+v, want it running as before", v)
	}
	if v := s.view(greedy); v.Phase != "waiting" || v.Reason == "" {
		t.Errorf("one that wants all: %+v, want it waiting, and why", v)
	}
	if err := errors.Join(os.Remove(r.Dir), s.Cancel(t.Context(), id)); err != nil {
		t.Fatal(err)
	}
	if v := s.ended(greedy); v.Outcome != "failed" || !strings.Contains(v.Detail, r.Dir+": no such file or directory") {
		t.Errorf("without its directory: %s %s, want it failed, and why", v.Outcome, v.Detail)
	}
}

// A flood of output, as fast as it is read, stays within the bounds of a log and disturbs
// nobody.
func TestFlood_of_output(t *testing.T) {
	t.Parallel()
	s := start(t, options(t))
	id := s.submit("flood", "sh", "-c", "timeout 0.7 tr '\\0' x < /dev/zero; echo; timeout 0.7 yes; echo the end; exit 3")
	await(t, "output", func() bool { return logged(t, s.o.Dir, id) > 0 })
	slowest := time.Duration(0)
	for i := 0; !func() bool { v := s.view(id); return v.HasEnded() }(); i++ {
		began := time.Now()
		s.ended(s.submit(fmt.Sprint("other-", i), "true"))
		slowest = max(slowest, time.Since(began))
	}
	o := local.DefaultOptions()
	if size, most := logged(t, s.o.Dir, id), o.LogBytes*int64(o.LogFiles)+64<<10; size > most {
		t.Errorf("a log of %d bytes, want at most %d", size, most)
	}
	v := s.view(id)
	if !strings.HasSuffix(v.Detail, "\nthe end") || len(v.Detail) > 32<<10 || slowest > 5*time.Second {
		t.Errorf("a detail of %d bytes, which ends in %q; the slowest other job took %v; want at most 32 KiB, the end, 5 s", len(v.Detail), v.Detail[max(0, len(v.Detail)-20):], slowest)
	}
	t.Logf("%d bytes of log; the slowest other job took %v", logged(t, s.o.Dir, id), slowest)
}

func logged(t *testing.T, dir string, id job.ID) int64 {
	t.Helper()
	files, err := filepath.Glob(local.LogFile(dir, id) + "*")
	if err != nil {
		t.Fatal(err)
	}
	size := int64(0)
	for _, f := range files {
		if info, err := os.Stat(f); err == nil { // it may be rotated away
			size += info.Size()
		}
	}
	return size
}

// A second scheduler on a state directory is refused, and told of the first.
func TestSecond_scheduler(t *testing.T) {
	t.Parallel()
	s := start(t, options(t))
	err := Run(t.Context(), s.o)
	if err == nil || !strings.Contains(err.Error(), fmt.Sprint(os.Getpid())) || !strings.Contains(err.Error(), s.o.Dir) {
		t.Errorf("got %v, want it to name process %d and %s", err, os.Getpid(), s.o.Dir)
	}
	if v := s.ended(s.submit("job", "true")); v.Outcome != "done" {
		t.Errorf("the first: job %s %s, want it done", v.Outcome, v.Detail)
	}
}

// A journal that cannot be written stops nothing, and is told of. Source: reliability, fault F14.
func TestJournal_on_a_full_disk(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("NOT TESTED: a journal on a full disk. Mounting a small one needs root")
	}
	o := options(t)
	dir := filepath.Join(o.Dir, journals)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=4k"); err != nil {
		t.Skip("NOT TESTED: a journal on a full disk. Mounting a small one:", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	s := start(t, o)
	banner := func() string {
		now, err := s.Status(t.Context(), false)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(now.Attention, "; ")
	}
	for i := 0; banner() == ""; i++ {
		s.ended(s.submit(fmt.Sprint("fills-", i), "true"))
	}
	if got := banner(); !strings.Contains(got, "journal") || !strings.Contains(got, "no space left") {
		t.Errorf("banner %q, want the journal and why", got)
	}
	if v := s.ended(s.submit("after", "true")); v.Outcome != "done" {
		t.Errorf("a job after that: %s %s, want it done", v.Outcome, v.Detail)
	}
}
