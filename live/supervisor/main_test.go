//go:build linux

package supervisor

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestMain is the supervisor too, as which the tests start this binary.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "keeper" {
		os.Exit(supervisorMain(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// supervisorMain is "oxgang keeper DIR" with the bugs that a test asks for.
func supervisorMain(args []string) int {
	f := flag.NewFlagSet("keeper", flag.ExitOnError)
	die := f.Int("die", 0, "kill -9 at this step")
	hold := f.String("hold", "", "at the first step, make FILE.<pid> and wait for FILE")
	noLock := f.Bool("no-lock", false, "seeded bug")
	noReaper := f.Bool("no-reaper", false, "seeded bug")
	noDeath := f.Bool("no-death-signal", false, "seeded bug")
	_ = f.Parse(args)
	at = func(s step) {
		if s == stepLocked && *hold != "" {
			waitFor(*hold)
		}
		if int(s) == *die {
			_ = unix.Kill(os.Getpid(), unix.SIGKILL)
			select {}
		}
	}
	if *noLock {
		lock = func(*os.File) error { return nil }
	}
	if *noReaper {
		subreaper = func() error { return nil }
	}
	if *noDeath {
		deathSignal = 0
	}
	if err := Main(f.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func waitFor(path string) {
	_ = os.WriteFile(fmt.Sprintf("%s.%d", path, os.Getpid()), nil, 0o600)
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			return
		}
	}
}

// A bench is one generation in a directory of its own.
type bench struct {
	t      *testing.T
	top    string // of its tags
	root   string // with the log and what workers write
	dir    string // of the generation
	launch *Launch
	exe    []string
}

// newBench prepares n workers that run a script, whose $T is the root.
func newBench(t *testing.T, n int, script string) *bench {
	t.Helper()
	if testing.Short() {
		t.Skip("starts processes")
	}
	root := t.TempDir()
	top := fmt.Sprintf("test-%d-%s", os.Getpid(), filepath.Base(filepath.Dir(root)))
	b := &bench{
		t: t, top: top, root: root, dir: filepath.Join(root, "1"), exe: []string{self(t), "keeper"},
		launch: &Launch{
			Job: "j1", Generation: 1, Tag: top + "/j1/1",
			Command: []string{"sh", "-c", script}, Dir: root,
			Env:     []string{"PATH=" + os.Getenv("PATH"), "T=" + root},
			Workers: make([]Worker, n),
			Log:     filepath.Join(root, "log"), LogBytes: 1 << 20, LogFiles: 3, Grace: 20 * time.Second,
		},
	}
	t.Cleanup(b.clean)
	return b
}

func self(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

// next is the generation after b's, in its own directory.
func (b *bench) next() *bench {
	l := *b.launch
	l.Generation++
	l.Tag = b.top + "/j1/2"
	return &bench{b.t, b.top, b.root, filepath.Join(b.root, "2"), &l, []string{b.exe[0], "keeper"}}
}

// clean leaves no process behind, whatever the test seeded.
func (b *bench) clean() {
	if r, err := readRecord(b.dir); err == nil && r != nil {
		_ = r.Supervisor.signal(unix.SIGKILL)
	}
	clean := 0 // readings in a row: one that changes its program has no environment
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		found, err := tagged(b.top)
		if clean++; err != nil || len(found) == 0 && clean == 3 {
			return
		}
		for _, o := range found {
			clean = 0
			_ = o.signal(unix.SIGKILL)
		}
	}
	b.t.Errorf("processes of %s are left", b.top)
}

func (b *bench) start(flags ...string) {
	b.t.Helper()
	if err := Start(slices.Concat(b.exe, flags), b.dir, b.launch); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) stop(in time.Duration) {
	b.t.Helper()
	if err := Stop(b.dir, Notice{time.Now().Add(in), "a test"}); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) look() State {
	b.t.Helper()
	s, err := Look(b.dir)
	if err != nil {
		b.t.Fatal(err)
	}
	return s
}

// until waits for a condition, half a minute at most.
func (b *bench) until(what string, is func() bool) {
	b.t.Helper()
	for end := time.Now().Add(30 * time.Second); !is(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			s, err := Look(b.dir)
			b.t.Fatalf("not in time: %s; state %+v %v", what, s, err)
		}
	}
}

func (b *bench) phase(want Phase) State {
	b.t.Helper()
	b.until(string(want), func() bool { s, err := Look(b.dir); return err == nil && s.Phase == want })
	return b.look()
}

// file waits until a file of the root has so many lines, and returns them.
func (b *bench) file(name string, lines int) []string {
	b.t.Helper()
	var got []string
	b.until(fmt.Sprintf("%d lines in %s", lines, name), func() bool {
		text, _ := os.ReadFile(filepath.Join(b.root, name))
		got = strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
		return strings.Count(string(text), "\n") >= lines
	})
	return got
}

// end waits for the end, at which no process may be left.
func (b *bench) end() State {
	b.t.Helper()
	s := b.phase(Ended)
	if left := b.left(); left > 0 {
		b.t.Errorf("%d processes are left at the end, want none", left)
	}
	return s
}

// left counts the processes of the generation.
func (b *bench) left() int {
	b.t.Helper()
	found, err := tagged(b.launch.Tag)
	if err != nil {
		b.t.Fatal(err)
	}
	return len(found)
}

// running reports whether a process with a pid that a worker wrote runs.
func running(t *testing.T, pid string) bool {
	t.Helper()
	var n int
	if _, err := fmt.Sscan(pid, &n); err != nil {
		t.Fatalf("pid %q: %v", pid, err)
	}
	p, err := readProc(n)
	return err == nil && !p.zombie
}

// killSupervisor ends the supervisor with SIGKILL and waits until it is gone.
func (b *bench) killSupervisor() {
	b.t.Helper()
	r, err := readRecord(b.dir)
	if err != nil || r == nil {
		b.t.Fatal("no state to read the supervisor's pid from:", err)
	}
	if err := r.Supervisor.signal(syscall.SIGKILL); err != nil {
		b.t.Fatal(err)
	}
	b.phase(Gone)
}
