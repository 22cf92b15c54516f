//go:build linux

package supervisor

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// kill ends a process whose pid a worker wrote.
func kill(t *testing.T, pid string) {
	t.Helper()
	n, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := readProc(n); err == nil {
		_ = p.signal(unix.SIGKILL)
	}
}

// TestSupervisorDies kills the supervisor at each step. Whatever it was at, the next
// generation starts after a sweep, with no process of the old one beside it,
// and the old one never begins twice.
func TestSupervisorDies(t *testing.T) {
	const script = `setsid sh -c 'echo $$ >>$T/left; exec sleep 1000' & ` + deaf
	for s := stepLocked; s < steps; s++ {
		if s == stepRetry {
			continue // TestStateCannotBeWritten
		}
		t.Run(fmt.Sprint("step ", s), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, 2, script)
			err := Start(slices.Concat(b.exe, []string{"-die", strconv.Itoa(int(s))}), b.dir, b.launch)
			if begun := s > stepBegun; begun != (err == nil) {
				t.Fatalf("error %v, want one: %v", err, !begun)
			}
			if s > stepRunning {
				b.file("left", 2)
				b.stop(0)
			}
			want := Gone
			if s == stepLocked {
				want = Absent
			}
			if s == stepEnded {
				want = Ended
			}
			b.until("the supervisor's death", func() bool { held, err := held(b.dir); return err == nil && !held })
			if got := b.look(); got.Phase != want {
				t.Fatalf("state %+v, want %s", got, want)
			}
			if err := Sweep(b.dir, b.launch.Tag); err != nil {
				t.Fatal(err)
			}
			if n := b.left(); n > 0 {
				t.Fatalf("%d processes are left after a sweep", n)
			}
			if s > stepLocked {
				if err := Start(b.exe, b.dir, b.launch); !errors.Is(err, errBegun) {
					t.Errorf("starting it again: %v, want %v", err, errBegun)
				}
			}
			next := b.next()
			next.start()
			next.phase(Running)
			if n := b.left(); n > 0 {
				t.Errorf("%d processes of the old generation beside the new one", n)
			}
			next.stop(0)
			next.end()
		})
	}
}

// TestWorkersDieWithKeeper: without anybody sweeping; and the test notices a
// supervisor whose workers do not.
func TestWorkersDieWithKeeper(t *testing.T) {
	t.Parallel()
	b := newBench(t, 2, deaf)
	b.start()
	pids := b.file("pids", 2)
	b.killSupervisor()
	b.until("the workers' death", func() bool { return !running(t, pids[0]) && !running(t, pids[1]) })

	b = b.next()
	b.start("-no-death-signal")
	pids = b.file("pids", 4)[2:]
	b.killSupervisor()
	if !running(t, pids[0]) || !running(t, pids[1]) {
		t.Error("a worker died without the signal: this test could not fail")
	}
	if err := Sweep(b.root, b.launch.Tag); err != nil {
		t.Error(err)
	}
	if running(t, pids[0]) || running(t, pids[1]) {
		t.Error("a worker lives after the sweep")
	}
}

// TestStartAtOnce: of many that start a generation one does.
func TestStartAtOnce(t *testing.T) {
	b := newBench(t, 1, deaf)
	const n = 6
	var errs [n]error
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = Start(b.exe, b.dir, b.launch) })
	}
	wg.Wait()
	begun := 0
	for _, err := range errs {
		if err == nil {
			begun++
		} else if !errors.Is(err, errBegun) {
			t.Errorf("error %v, want %v", err, errBegun)
		}
	}
	if begun != 1 {
		t.Errorf("%d of %d began, want 1", begun, n)
	}
	b.phase(Running)
	if pids := b.file("pids", 1); len(pids) != 1 || b.workers() != 1 {
		t.Errorf("workers %v, want 1", pids)
	}
	// By hand, beside the one that lives.
	if out, err := exec.Command(b.exe[0], "keeper", b.dir).CombinedOutput(); err == nil || !strings.Contains(string(out), errHeld.Error()) {
		t.Errorf("a second supervisor said %q, %v; want that the lock is held", out, err)
	}
	b.stop(0)
	b.end()
	b.until("the lock to fall", func() bool { held, err := held(b.dir); return err == nil && !held })
	if out, err := exec.Command(b.exe[0], "keeper", b.dir).CombinedOutput(); err == nil || !strings.Contains(string(out), errBegun.Error()) {
		t.Errorf("a supervisor after the end said %q, %v; want that it has begun before", out, err)
	}
}

// workers counts the leaders of process groups among the generation.
func (b *bench) workers() int {
	found, err := tagged(b.launch.Tag)
	if err != nil {
		b.t.Fatal(err)
	}
	return len(slices.DeleteFunc(found, func(o orphan) bool {
		group, err := unix.Getpgid(o.PID)
		return err != nil || group != o.PID
	}))
}

// TestStartAtOnceSeeded: without the lock, two supervisors double the worker.
func TestStartAtOnceSeeded(t *testing.T) {
	b := newBench(t, 1, deaf)
	sound := lock
	lock = func(*os.File) error { return nil }
	defer func() { lock = sound }()
	hold := filepath.Join(b.root, "go")
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() { _ = Start(slices.Concat(b.exe, []string{"-no-lock", "-hold", hold}), b.dir, b.launch) })
	}
	b.until("both supervisors", func() bool { two, _ := filepath.Glob(hold + ".*"); return len(two) == 2 })
	b.write("go", 0o600, "")
	wg.Wait()
	b.file("pids", 2)
	if n := b.workers(); n != 2 {
		t.Errorf("%d workers without the lock, want the bug to show: 2", n)
	}
	two, _ := filepath.Glob(hold + ".*")
	for _, name := range two {
		kill(t, strings.TrimPrefix(name, hold+"."))
	}
}

// TestSweepSpares: the processes of supervisors that live, others', and one that
// has the pid of a process that is over.
func TestSweepSpares(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1, deaf)
	b.start()
	mine := b.file("pids", 1)[0]
	top := b.top
	other := exec.Command("sleep", "1000")
	other.Env = []string{runVariable + "=" + top + "x/j1/1"}
	orphaned := exec.Command("sleep", "1000")
	orphaned.Env = []string{runVariable + "=" + top + "/j2/1"}
	for _, c := range []*exec.Cmd{other, orphaned} {
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Process.Kill(); _ = c.Wait() }()
	}
	if err := Sweep(b.root, top); err != nil {
		t.Fatal(err)
	}
	if !running(t, mine) || !running(t, strconv.Itoa(other.Process.Pid)) {
		t.Error("the sweep killed what it must spare")
	}
	if running(t, strconv.Itoa(orphaned.Process.Pid)) {
		t.Error("a process without a supervisor lives after the sweep")
	}
	if found, err := tagged(top + "x"); err != nil || len(found) != 1 {
		t.Errorf("found %v %v, want the other process: the sweep could not have missed it", found, err)
	}
	p, err := readProc(other.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	earlier := process{p.PID, p.Start - 1}
	if err := errors.Join(earlier.signal(unix.SIGTERM), p.signal(unix.SIGKILL)); err != nil {
		t.Error(err)
	}
	// The first signal that ends a process is the one that it dies of.
	if err := other.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Errorf("it ended with %v, want killed: it was signalled for one that had its pid", err)
	}
}

// TestSweepCannotTell: a living supervisor whose launch cannot be read keeps
// everything alive.
func TestSweepCannotTell(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1, deaf)
	b.start()
	mine := b.file("pids", 1)[0]
	if err := os.WriteFile(filepath.Join(b.dir, launchFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Sweep(b.root, b.launch.Tag); err == nil || !running(t, mine) {
		t.Errorf("error %v, running %v; want an error and nothing killed", err, running(t, mine))
	}
}

// TestBeginsMeanwhile: a generation that begins while somebody looks, after the
// lock was seen free, is not one that has lost its supervisor.
func TestBeginsMeanwhile(t *testing.T) {
	b := newBench(t, 1, deaf)
	b.launch.Cgroup = b.root
	state := filepath.Join(b.dir, stateFile)
	kills := filepath.Join(groupPath(b.launch), "cgroup.kill") // of a cgroup that is none
	if err := errors.Join(
		os.MkdirAll(b.dir, 0o700), os.MkdirAll(filepath.Dir(kills), 0o700),
		os.WriteFile(kills, nil, 0o600), writeJSON(filepath.Join(b.dir, launchFile), b.launch),
	); err != nil {
		t.Fatal(err)
	}
	sound := held
	defer func() { held = sound }()
	held = func(string) (bool, error) {
		return false, writeJSON(state, &record{Version: recordVersion, Phase: Starting})
	}
	check := func(when string, phase Phase, told string) {
		t.Helper()
		_, err := living(b.root, b.launch.Tag)
		if got, err2 := os.ReadFile(kills); err != nil || err2 != nil || string(got) != told {
			t.Errorf("%s: the cgroup was told %q, want %q; %v %v", when, got, told, err, err2)
		}
		if phase == Absent {
			_ = os.Remove(state)
		}
		if s := b.look(); s.Phase != phase {
			t.Errorf("%s: phase %s, want %s", when, s.Phase, phase)
		}
	}
	check("begun meanwhile", Absent, "")
	check("begun before", Gone, "1")
}

// TestCgroup: a process that has left its parents, its session and its
// environment is found in the cgroup when the supervisor is gone.
func TestCgroup(t *testing.T) {
	parent := cgroup(t)
	const script = `setsid env -i T=$T PATH=$PATH sh -c 'sh -c "echo \$\$ >>$T/left; exec sleep 1000" &' & cat /proc/self/cgroup >$T/groups; ` + deaf
	t.Run("the end takes it away", func(t *testing.T) {
		b := newBench(t, 2, script)
		b.launch.Cgroup = parent
		b.start()
		b.file("left", 2)
		b.file("pids", 2)
		if g := strings.Join(b.file("groups", 1), " "); !strings.Contains(g, filepath.Base(groupPath(b.launch))) {
			t.Errorf("groups of a worker %q, want %s", g, groupPath(b.launch))
		}
		b.stop(0)
		s := b.end()
		if _, err := os.Stat(groupPath(b.launch)); err == nil || s.Note != "" && !strings.Contains(s.Note, "left were killed") {
			t.Errorf("note %q, stat %v; want the cgroup gone", s.Note, err)
		}
	})
	t.Run("the supervisor is gone", func(t *testing.T) {
		b := newBench(t, 1, script)
		b.launch.Cgroup = parent
		b.start()
		left := b.file("left", 1)[0]
		b.file("pids", 1)
		b.killSupervisor()
		if !running(t, left) {
			t.Fatal("the hidden process died on its own: this test could not fail")
		}
		if err := Sweep(b.dir, b.launch.Tag); err != nil {
			t.Fatal(err)
		}
		b.until("the hidden process' death", func() bool { return !running(t, left) })
		b.until("an empty place", func() bool {
			_ = Sweep(b.dir, b.launch.Tag)
			_, err := os.Stat(groupPath(b.launch))
			return err != nil
		})
	})
	t.Run("limits that cannot be", func(t *testing.T) {
		b := newBench(t, 1, "exit 0")
		b.launch.Cgroup = b.root
		b.start()
		if s := b.end(); !strings.Contains(s.Note, "no cgroup: "+b.root+" is not a cgroup of version 2") || !s.Workers[0].OK() {
			t.Errorf("got %+v, want it to go on without, and to say so", s)
		}
	})
}

// cgroup returns a cgroup of version 2 for this test, or skips it.
func cgroup(t *testing.T) string {
	t.Helper()
	for _, mount := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
		var where unix.Statfs_t
		if unix.Statfs(mount, &where) != nil || where.Type != unix.CGROUP2_SUPER_MAGIC {
			continue
		}
		dir := filepath.Join(mount, fmt.Sprintf("oxgang-test-%d", os.Getpid()))
		if os.Mkdir(dir, 0o755) == nil {
			t.Cleanup(func() {
				end := time.Now().Add(5 * time.Second)
				for unix.Rmdir(dir) != nil && time.Now().Before(end) {
					time.Sleep(time.Millisecond)
				}
			})
			return dir
		}
	}
	t.Skip("no cgroup of version 2 can be made here")
	return ""
}

// TestSupervisorDiesAtTheEnd kills 50 supervisors between the last step of the program and the record of its end. The
// holders know how the workers ended, so that nobody has a reason to run the steps again.
func TestSupervisorDiesAtTheEnd(t *testing.T) {
	const (
		steps    = `for i in 1 2 3 4 5; do echo $RANK.$i >>$T/steps; done; `
		tellsOne = `[ $RANK = 1 ] && kill -9 $(sed 's/.*"keeper":{"pid":\([0-9]*\).*/\1/' ${OXGANG_NOTICE%notice.json}state.json); `
	)
	for i := range 50 {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, 2, steps+"echo last words; exit 0")
			var flags []string
			if moments := []step{stepReaped, stepOver, stepSwept}; i%5 < len(moments) {
				flags = []string{"-die", strconv.Itoa(int(moments[i%5]))}
			} else { // while the interpreter ends, up to half a second after its last line
				b.launch.Command[2] = steps + tellsOne + fmt.Sprintf("sleep 0.%02d; echo last words; exit $((%d * RANK))", i, 5*(i%5-3))
			}
			b.start(flags...)
			b.until("the end", func() bool { held, err := held(b.dir); return err == nil && !held })
			want := []Exit{{}, {}}
			if i%5 == 4 {
				want[1].Code = 5
			}
			s := b.look()
			if diff := cmp.Diff(want, s.Workers); diff != "" || s.Phase != Gone || (s.Detail == "") != want[1].OK() {
				t.Errorf("got %+v, want a dead supervisor, and how the workers ended:\n%s", s, diff)
			}
			if got := b.file("steps", 10); len(got) != 10 {
				t.Errorf("steps %q, want each once", got)
			}
			if len(flags) > 0 {
				return // the dead supervisor may have read the last words
			}
			b.until("the last words", func() bool {
				text, err := os.ReadFile(b.launch.Log)
				return err == nil && strings.Contains(string(text), "[rank 1] last words\n")
			})
		})
	}
}

// TestHolderDies: its worker dies with it, and that is how the worker ended.
func TestHolderDies(t *testing.T) {
	b := newBench(t, 2, deaf)
	b.launch.Grace = 0
	b.start()
	pids := b.file("pids", 2)
	b.phase(Running)
	if err := b.holder(1).signal(unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if s := b.end(); s.Workers[1] != (Exit{Signal: 9}) || running(t, pids[0]) || running(t, pids[1]) {
		t.Errorf("got %+v, want both workers killed", s)
	}
}

// holder returns the parent process of a worker.
func (b *bench) holder(rank int) process {
	b.t.Helper()
	r, err := readRecord(b.dir)
	if err != nil {
		b.t.Fatal(err)
	}
	worker, err := readProc(r.Workers[rank].PID)
	if err != nil {
		b.t.Fatal(err)
	}
	p, err := readProc(worker.parent)
	if err != nil {
		b.t.Fatal(err)
	}
	return p.process
}

// TestHolderHangs: a holder that was stopped does not keep the lock after the death of its supervisor.
func TestHolderHangs(t *testing.T) {
	b := newBench(t, 1, deaf)
	b.start()
	b.phase(Running)
	h := b.holder(0)
	if err := h.signal(unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	b.until("its halt", func() bool {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", h.PID))
		return err == nil && strings.Contains(string(text), ") T ")
	})
	if err := Kill(b.dir); err != nil {
		t.Fatal(err)
	}
	b.phase(Gone)
}

// TestKeepOutput_waits: a holder does not end while its living supervisor has not read all output, because the
// supervisor may have been killed and be about to die.
func TestKeepOutput_waits(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	defer write.Close()
	if _, err := write.WriteString("last words\n"); err != nil {
		t.Fatal(err)
	}
	h := &holder{order: order{Supervisor: os.Getppid()}, launch: &Launch{}}
	over := make(chan struct{})
	go func() { defer close(over); h.keepOutput(read) }()
	select {
	case <-over:
		t.Fatal("the holder ends before its supervisor has read all")
	case <-time.After(50 * time.Millisecond):
	}
	if _, err := read.Read(make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	select {
	case <-over:
	case <-time.After(10 * time.Second):
		t.Error("the holder does not end after its supervisor has read all")
	}
}
