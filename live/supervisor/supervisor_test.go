//go:build linux

package supervisor

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// deaf is a worker that ignores SIGTERM and never ends.
const deaf = `trap '' TERM; echo $$ >>$T/pids; while :; do sleep 1; done`

// polite is a worker that stops on SIGTERM as a client does.
const polite = `trap 'exit 75' TERM; echo $$ >>$T/pids; while :; do sleep 0.01; done`

func TestExits(t *testing.T) {
	tests := []struct {
		name, script string
		want         []Exit
		detail       string
	}{
		{"all end well", `exit 0`, []Exit{{}, {}}, ""},
		{"wants to go on", `exit 75`, []Exit{{Code: 75}}, "worker 0: exit code 75"},
		{"a code", `exit 3`, []Exit{{Code: 3}}, "worker 0: exit code 3"},
		{"a signal", `kill -9 $$`, []Exit{{Signal: 9}}, "worker 0: signal 9"},
		{"one of four fails", `trap 'exit 9' TERM; echo $$ >>$T/pids; [ $RANK = 2 ] && { while [ $(wc -l <$T/pids) -lt 4 ]; do sleep 0.01; done; exit 4; }; while :; do sleep 0.01; done`, []Exit{{Code: 9}, {Code: 9}, {Code: 4}, {Code: 9}}, "worker 2: exit code 4"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, len(tt.want), tt.script)
			b.start()
			s := b.end()
			if diff := cmp.Diff(tt.want, s.Workers); diff != "" {
				t.Errorf("exits (-want +got):\n%s", diff)
			}
			if s.Detail != tt.detail || s.Killed || s.Note != "" || s.Ended.IsZero() {
				t.Errorf("got %+v, want detail %q, nothing killed, no note, a time", s, tt.detail)
			}
		})
	}
}

func TestGraceEnds(t *testing.T) {
	t.Parallel()
	b := newBench(t, 4, `[ $RANK = 1 ] && { while [ $(wc -l <$T/pids) -lt 3 ]; do sleep 0.01; done; exit 5; }; `+deaf)
	b.launch.Grace = 50 * time.Millisecond
	if err := os.WriteFile(filepath.Join(b.root, "pids"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b.start()
	s := b.end()
	want := []Exit{{Signal: 9}, {Code: 5}, {Signal: 9}, {Signal: 9}}
	if diff := cmp.Diff(want, s.Workers); diff != "" || !s.Killed || s.Detail != "worker 1: exit code 5" {
		t.Errorf("got %+v, want worker 1 to have failed and the others killed:\n%s", s, diff)
	}
}

func TestOneWorkerIsKilledFromOutside(t *testing.T) {
	t.Parallel()
	b := newBench(t, 2, polite)
	b.start()
	b.file("pids", 2)
	b.phase(Running)
	r, err := readRecord(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Workers[1].signal(9); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Exit{{Code: 75}, {Signal: 9}}, b.end().Workers); diff != "" {
		t.Errorf("exits (-want +got):\n%s", diff)
	}
}

func TestStop(t *testing.T) {
	t.Run("workers that listen", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, 2, polite)
		b.start()
		b.file("pids", 2)
		b.stop(time.Hour)
		b.stop(time.Hour)
		s := b.end()
		if diff := cmp.Diff([]Exit{{Code: TempFail}, {Code: TempFail}}, s.Workers); diff != "" || s.Killed || s.Detail != "" {
			t.Errorf("got %+v:\n%s", s, diff)
		}
		b.stop(0)
		if diff := cmp.Diff(s, b.look()); diff != "" {
			t.Errorf("stopping what has ended changed it (-before +after):\n%s", diff)
		}
	})
	t.Run("workers that do not", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, 2, deaf)
		b.start()
		b.file("pids", 2)
		b.stop(time.Hour)
		b.phase(Stopping)
		b.stop(10 * time.Millisecond) // sooner after all
		s := b.end()
		if diff := cmp.Diff([]Exit{{Signal: 9}, {Signal: 9}}, s.Workers); diff != "" || !s.Killed {
			t.Errorf("got %+v:\n%s", s, diff)
		}
	})
	t.Run("nothing there", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, 1, deaf)
		b.stop(0)
		if s := b.look(); s.Phase != Absent {
			t.Errorf("phase %s, want %s", s.Phase, Absent)
		}
	})
	t.Run("before workers start", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, 2, deaf)
		hold := filepath.Join(b.root, "go")
		done := make(chan error)
		go func() { done <- Start(slices.Concat(b.exe, []string{"-hold", hold}), b.dir, b.launch) }()
		b.phase(Starting)
		b.stop(time.Hour)
		if err := os.WriteFile(hold, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		s := b.end()
		if _, err := os.Stat(filepath.Join(b.root, "pids")); err == nil || s.Workers[1].Code != TempFail || s.Detail != "stopped before it started: a test" {
			t.Errorf("got %+v, want no worker to have run", s)
		}
	})
}

func TestNoticeIsForWorkersToo(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1, `trap 'cat $OXGANG_NOTICE >$T/copy; exit 75' TERM; echo $$ >>$T/pids; while :; do sleep 0.01; done`)
	b.start()
	b.file("pids", 1)
	at := time.Now().Add(time.Hour)
	if err := Stop(b.dir, Notice{at, "make room"}); err != nil {
		t.Fatal(err)
	}
	b.end()
	var n struct {
		Deadline float64
		Reason   string
	}
	if err := json.Unmarshal([]byte(b.file("copy", 1)[0]), &n); err != nil {
		t.Fatal(err)
	}
	if want := float64(at.UnixMicro()) / 1e6; n.Deadline != want || n.Reason != "make room" {
		t.Errorf("got %+v, want deadline %f", n, want)
	}
}

// TestOrphans: what workers leave behind dies, however it was left; a supervisor
// to which orphans do not come is found out.
func TestOrphans(t *testing.T) {
	const leave = `
		sleep 1000 & echo $! >>$T/left
		setsid sleep 1000 & echo $! >>$T/left
		(setsid env -i sh -c "trap '' TERM HUP; (sleep 1000 & echo \$! >>$T/left; exec sleep 1000) & echo \$! >>$T/left") &
		while [ $(wc -l <$T/left) -lt 4 ]; do sleep 0.01; done; `
	for name, last := range map[string]string{"after the end": "exit 0", "after a failure": "exit 1", "after a stop": "trap '' TERM; echo >$T/ready; while :; do sleep 0.1; done"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, 1, leave+last)
			b.start()
			if name == "after a stop" {
				b.file("ready", 1)
				b.stop(0)
			}
			s := b.end()
			for _, pid := range b.file("left", 4) {
				if running(t, pid) {
					t.Errorf("process %s is left", pid)
				}
			}
			if name == "after the end" && !strings.HasSuffix(s.Note, "processes that outlived the workers were killed: 4") {
				t.Errorf("note %q, want it to mention the processes", s.Note)
			}
		})
	}
	t.Run("seeded", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, 1, leave+"exit 0")
		b.start("-no-reaper")
		b.phase(Ended)
		if !slices.ContainsFunc(b.file("left", 4), func(pid string) bool { return running(t, pid) }) {
			t.Error("no process is left by a supervisor that is no reaper: this test could not fail")
		}
		for _, pid := range b.file("left", 4) {
			kill(t, pid)
		}
	})
}

func TestCannotStart(t *testing.T) {
	tests := []struct {
		name   string
		spoil  func(b *bench)
		detail string
	}{
		{"no such command", func(b *bench) { b.launch.Command[0] = "pithon" }, "worker 0: pithon: executable file not found in $PATH"},
		{"no such path", func(b *bench) { b.launch.Command[0] = "./train" }, "worker 0: ./train: no such file or directory"},
		{"not executable", func(b *bench) { b.launch.Command[0] = b.write("train", 0o600, "") }, "permission denied"},
		{"no interpreter", func(b *bench) { b.launch.Command[0] = b.write("train", 0o700, "#!/no/such\n") }, "the interpreter in its first line does not exist"},
		{"no directory", func(b *bench) { b.launch.Dir = "/no/such" }, "worker 0: directory: stat /no/such: no such file"},
		{"a file", func(b *bench) { b.launch.Dir = b.write("file", 0o600, "") }, "is a file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, 2, "exit 0")
			tt.spoil(b)
			b.start()
			s := b.end()
			if !strings.Contains(s.Detail, tt.detail) {
				t.Errorf("detail %q, want %q", s.Detail, tt.detail)
			}
			if diff := cmp.Diff([]Exit{{Code: notStarted}, {Code: notStarted}}, s.Workers); diff != "" {
				t.Errorf("exits (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("the second only", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, 2, deaf)
		b.launch.Grace = 0
		b.launch.Workers[1].Env = []string{"PATH=/no/such"}
		b.start()
		if s := b.end(); s.Workers[0].OK() || s.Workers[1].Code != notStarted || s.Detail != "worker 1: sh: executable file not found in $PATH" {
			t.Errorf("got %+v, want worker 0 stopped and worker 1 not started", s)
		}
	})
	t.Run("the supervisor itself", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, 1, deaf)
		if err := Start([]string{"/no/such"}, b.dir, b.launch); err == nil || !strings.Contains(err.Error(), "/no/such") {
			t.Errorf("error %v, want the name of the program", err)
		}
		if err := Start([]string{"false"}, b.dir, b.launch); err == nil || !strings.Contains(err.Error(), "without a response") {
			t.Errorf("error %v, want that the supervisor did not respond", err)
		}
		b.launch.Log = "/no/such/log"
		if err := Start(b.exe, b.dir, b.launch); err == nil || !strings.Contains(err.Error(), "open /no/such/log") {
			t.Errorf("error %v, want the supervisor's own words", err)
		}
		b.launch.Log = filepath.Join(b.root, "log")
		b.start() // none of these has begun the generation
	})
}

// write makes a file of the root.
func (b *bench) write(name string, mode os.FileMode, text string) string {
	b.t.Helper()
	path := filepath.Join(b.root, name)
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		b.t.Fatal(err)
	}
	return path
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	b := newBench(t, 2, `[ $RANK = 1 ] && env | sort >$T/env; for f in /proc/$$/fd/*; do readlink $f >>$T/fds; done; echo end >>$T/fds`)
	b.launch.Generation = 3
	b.launch.Env = append(b.launch.Env, "A=1", "RANK=7", "B=1")
	b.launch.Workers[1].Env = []string{"B=2", "CUDA_VISIBLE_DEVICES=5"}
	inherited, err := os.Open(b.write("inherited", 0o600, "")) // as by a shell's "9<file"
	if err != nil {
		t.Fatal(err)
	}
	defer inherited.Close()
	if _, err := unix.FcntlInt(inherited.Fd(), unix.F_SETFD, 0); err != nil {
		t.Fatal(err)
	}
	b.start()
	b.end()
	env := b.file("env", 1)
	for _, want := range []string{
		"A=1", "B=2", "CUDA_VISIBLE_DEVICES=5", "GROUP_RANK=0", "LOCAL_RANK=1", "LOCAL_WORLD_SIZE=2", "MASTER_ADDR=127.0.0.1",
		"OXGANG_NOTICE=" + b.dir + "/notice.json", "OXGANG_RUN=" + b.launch.Tag, "RANK=1", "TORCHELASTIC_RESTART_COUNT=2", "TORCHELASTIC_RUN_ID=j1-3", "WORLD_SIZE=2",
	} {
		if !slices.Contains(env, want) {
			t.Errorf("%s is not in the environment %q", want, env)
		}
	}
	if slices.ContainsFunc(env, func(e string) bool { return strings.HasPrefix(e, handedOver) }) {
		t.Errorf("the supervisor's own variable reached a worker: %q", env)
	}
	for _, file := range b.file("fds", 2) {
		if strings.HasPrefix(file, b.dir) || file == inherited.Name() {
			t.Errorf("%s is open in a worker", file)
		}
	}
}

func TestCores(t *testing.T) {
	t.Parallel()
	b := newBench(t, 2, `grep Cpus_allowed_list /proc/self/status | cut -f2 >$T/cores$RANK`)
	var may unix.CPUSet
	if err := unix.SchedGetaffinity(0, &may); err != nil {
		t.Fatal(err)
	}
	first := 0
	for !may.IsSet(first) {
		first++
	}
	b.launch.Workers[0].CPUs = []int{first}
	b.launch.Workers[1].CPUs = []int{1020}
	b.start()
	s := b.end()
	if got := b.file("cores0", 1)[0]; got != strconv.Itoa(first) {
		t.Errorf("worker 0 runs on cores %s, want %d", got, first)
	}
	if got := b.file("cores1", 1)[0]; got == strconv.Itoa(first) && may.Count() > 1 || !strings.Contains(s.Note, "not pinned to cores [1020]") {
		t.Errorf("worker 1 runs on cores %s with note %q, want any, and the note to say so", got, s.Note)
	}
}

// TestStateCannotBeWritten: an exit status waits for the disk; a supervisor that
// gives up loses it.
func TestStateCannotBeWritten(t *testing.T) {
	b := newBench(t, 1, `echo >$T/ready; while [ ! -e $T/go ]; do sleep 0.01; done; exit 6`)
	run := func(flags ...string) {
		state := filepath.Join(b.dir, stateFile)
		b.start(flags...)
		b.phase(Running)
		if err := errors.Join(os.Remove(state), os.MkdirAll(filepath.Join(state, "in the way"), 0o700)); err != nil {
			t.Fatal(err)
		}
		b.write("go", 0o600, "")
	}
	run()
	b.until("many tries", func() bool { // of Stopping once, of Ended ever again
		said, _ := os.ReadFile(filepath.Join(b.dir, stderrFile))
		return strings.Count(string(said), "\n") >= 5
	})
	if held, err := held(b.dir); err != nil || !held {
		t.Errorf("the lock is held: %v %v, want it held while the ending is not written", held, err)
	}
	repair := func() {
		if err := errors.Join(os.RemoveAll(filepath.Join(b.dir, stateFile)), os.Remove(filepath.Join(b.root, "go"))); err != nil {
			t.Fatal(err)
		}
	}
	repair()
	if s := b.end(); s.Workers[0].Code != 6 {
		t.Errorf("got %+v, want exit code 6", s)
	}

	b = b.next()
	run("-die", strconv.Itoa(int(stepRetry))) // seeded: it ends where it should try again
	b.until("its death", func() bool { held, err := held(b.dir); return err == nil && !held })
	repair()
	b.phase(Absent)
}

// TestDirectoryIsRemoved: a supervisor does not outlive its workers where nobody can hear of it.
func TestDirectoryIsRemoved(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1, "echo $$ >$T/pids; until [ -e $T/go ]; do sleep 0.02; done")
	b.start()
	b.file("pids", 1)
	b.phase(Running) // it writes nothing more until the end
	r, err := readRecord(b.dir)
	if err != nil || r == nil {
		t.Fatal("no state:", err)
	}
	if err := os.RemoveAll(b.dir); err != nil {
		t.Fatal(err)
	}
	b.write("go", 0o600, "")
	b.until("the supervisor's end", func() bool { return !running(t, strconv.Itoa(r.Supervisor.PID)) })
}
