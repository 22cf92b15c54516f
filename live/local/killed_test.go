package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/local/statedir"
	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

func (s *stage) script(name, text string, spec *job.Spec) job.ID {
	s.t.Helper()
	id, err := s.Submit(name, spec, store.Request{Command: []string{"/bin/sh", "-c", text}, Dir: s.o.Dir, Env: os.Environ()})
	if err != nil {
		s.t.Fatal(err)
	}
	return id
}

// workers returns the processes of a generation by rank, as its supervisor knows them.
func workers(t *testing.T, dir string) []int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "state.json"))
	if err != nil {
		t.Fatal(err)
	}
	var state struct{ Workers []struct{ PID int } }
	if err := json.Unmarshal(text, &state); err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, w := range state.Workers {
		pids = append(pids, w.PID)
	}
	return pids
}

// kill9 kills a process of the test; it may be over, when others of its job were killed.
func kill9(pid int) error {
	if pid <= 1 {
		return fmt.Errorf("process %d, want one of the test", pid)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}

// lives reports whether a process of the test does.
func lives(pid int) bool { return pid > 1 && syscall.Kill(pid, 0) == nil }

func (s *stage) saved(id job.ID) int {
	text, err := os.ReadFile(filepath.Join(statedir.Folder(s.o.Dir, id), "checkpoints", "steps"))
	if err != nil {
		return 0
	}
	n, err := strconv.Atoi(string(text))
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

// Workers are killed, one of two and then all, three times: the job goes on each time from
// its last checkpoint, after the back-off, since it got further in between.
func TestKilled_workers_go_on(t *testing.T) {
	t.Parallel()
	s := newStage(t, options(t, 2))
	const steps = 240
	id := s.train("job", steps, &job.Spec{GPUs: 2, Adaptivity: job.Rigid})
	var saved []int
	for i, ranks := range [][]int{{1}, {0, 1}, {0}} {
		last := int64(s.saved(id))
		s.up(id, i+1)
		await(t, "word of a checkpoint", func() bool {
			c := s.job(id).Checkpoint
			return c != nil && c.Step > last
		})
		waited := s.job(id).Waits
		s.strike(id, ranks...)
		saved = append(saved, s.saved(id))
		await(t, "the loss", func() bool { return s.job(id).Waits.After(waited) })
		if wait := time.Until(s.job(id).Waits); wait > 2*backoff {
			t.Errorf("failure %d: a back-off of %v, want at most %v after progress", i+1, wait, 2*backoff)
		}
	}
	if end := s.ended(id); end.Outcome != scheduler.Done {
		t.Fatalf("ended %+v, want it done", end)
	}
	if wrong := resumed(s.output(id), saved); wrong != "" || s.saved(id) != steps {
		t.Errorf("%s; saved step %d, want %d", wrong, s.saved(id), steps)
	}
}

var from = regexp.MustCompile(`(?m)^from step (\d+)$`)

// resumed returns what is wrong with the starts in a log, if the steps saved when the
// generations ended were these.
func resumed(log string, saved []int) string {
	got := from.FindAllStringSubmatch(log, -1)
	got = slices.DeleteFunc(got, func(m []string) bool { return m[1] == "" })
	want := append([]int{0}, saved...)
	if len(got) != len(want) {
		return fmt.Sprintf("%d starts, want %d", len(got), len(want))
	}
	for i, step := range want {
		if got[i][1] != strconv.Itoa(step) {
			return fmt.Sprintf("generation %d began at step %s, want %d, the last saved", i+1, got[i][1], step)
		}
	}
	return ""
}

// The check sees steps that were lost, and starts that were doubled.
func TestResumed_sees_losses(t *testing.T) {
	for log, right := range map[string]bool{
		"from step 0\nfrom step 20\n":               true,
		"from step 0\nfrom step 0\n":                false,
		"from step 0\nfrom step 20\nfrom step 20\n": false,
	} {
		if got := resumed(log, []int{20}); (got == "") != right {
			t.Errorf("%q: got %q, want it right: %v", log, got, right)
		}
	}
}

// Three failures without a new checkpoint are the end, and its message has the last lines.
func TestKilled_three_times_without_progress(t *testing.T) {
	t.Parallel()
	s := newStage(t, options(t, 1))
	said := filepath.Join(t.TempDir(), "said")
	id := s.script("job", "echo this is start $OXGANG_GENERATION; echo $OXGANG_GENERATION > "+said+"; exec sleep 1000", &job.Spec{GPUs: 1, Adaptivity: job.Rigid})
	a := s.agent(id)
	for n := 1; n <= maxFailures; n++ {
		s.up(id, n)
		await(t, "its words", func() bool {
			text, err := os.ReadFile(said)
			return err == nil && string(text) == fmt.Sprintln(n)
		})
		a.must("hello", helloOf(n, 1))
		if n == 1 {
			a.must("checkpoint", fmt.Sprintf(`{"generation":1,"step":5,"progress":320,"epoch":0,"bytes":4,"seconds":0,"path":"five","checksum":%q}`, checksum))
		}
		before := time.Now()
		s.strike(id, 0)
		if n == maxFailures {
			break
		}
		await(t, "the loss", func() bool { return s.job(id).Waits.After(before) })
		waits, want := s.job(id).Waits, backoff<<n
		if waits.Sub(before) < want || time.Until(waits) > want {
			t.Errorf("failure %d: a back-off until %v after it, %v from now, want %v", n, waits.Sub(before), time.Until(waits), want)
		}
	}
	end := s.ended(id)
	for _, want := range []string{"failed 3 times without a new checkpoint", "signal 9", "this is start 3"} {
		if end.Outcome != scheduler.Failed || !strings.Contains(end.Detail, want) {
			t.Errorf("ended %v: %s; want it failed, and %q", end.Outcome, end.Detail, want)
		}
	}
}

// A new checkpoint ends a row of failures, however its generation ends; that is durable as soon as it is acknowledged:
// a crash before the next plan does not bring the failures back.
func TestCheckpoint_ends_a_row_of_failures(t *testing.T) {
	t.Parallel()
	s := newStage(t, options(t, 1))
	id, a := s.speaks("job")
	stored := func() int {
		jobs, err := s.jobs.store.Jobs(false)
		if err != nil || len(jobs) != 1 {
			t.Fatalf("%d jobs, %v", len(jobs), err)
		}
		return jobs[0].Failures
	}
	s.Lock()
	s.jobs.ByID[id].Failures, s.jobs.ByID[id].uncommitted = maxFailures-1, true
	s.Unlock()
	await(t, "the failures in the store", func() bool { return stored() == maxFailures-1 })
	a.must("checkpoint", fmt.Sprintf(`{"generation":1,"step":5,"progress":320,"epoch":0,"bytes":4,"seconds":0,"path":"five","checksum":%q}`, checksum))
	if n := stored(); n != 0 {
		t.Errorf("%d failures in the store, want none", n)
	}
}

// A supervisor that cannot be started is tried again, but not at every pass.
func TestStart_that_fails_is_tried_later(t *testing.T) {
	o := options(t, 1)
	o.Supervisor = []string{"/nowhere/keeper"}
	w := open(t, o)
	id := w.shell(t, "job", "true", 1)
	c := cluster.Configuration{Nodes: 1, GPUs: 1, GPUType: "cpu"}
	if err := w.Do(t.Context(), []scheduler.Action{scheduler.Run{Job: id, Allocation: cluster.Allocation{Configuration: c}}}); err != nil {
		t.Fatal(err)
	}
	await(t, "a back-off", func() bool { return !w.Live()[0].Waits.IsZero() })
}

// A program that says again and again that it stopped on notice, of which there was none,
// fails like others.
func TestYields_without_notice(t *testing.T) {
	t.Parallel()
	s := newStage(t, options(t, 1))
	id := s.script("job", "exit 75", &job.Spec{GPUs: 1, Adaptivity: job.Rigid})
	if end := s.ended(id); end.Outcome != scheduler.Failed || !strings.Contains(end.Detail, "failed 3 times") {
		t.Errorf("ended %+v, want it failed after 3 times", end)
	}
}

// That a generation is over is news to the scheduler, whatever it plans meanwhile, unless it
// plans a new generation.
func TestLost_while_a_plan_is_written(t *testing.T) {
	w := open(t, options(t, 2))
	id := w.shell(t, "job", "exec sleep 1000", 1)
	on := func(gpus, batch int) scheduler.Run {
		c := cluster.Configuration{Nodes: 1, GPUs: gpus, GPUType: "cpu"}
		return scheduler.Run{
			Job: id, Allocation: cluster.Allocation{Configuration: c}, Batch: job.BatchSize{Local: batch},
			Placement: cluster.Placement{{Node: "box", Resources: cluster.Resources{GPUs: gpus}}},
		}
	}
	w.Follow(time.Minute, func(time.Time) []*policy.Job {
		return []*policy.Job{{Spec: &job.Spec{ID: id}, Status: job.Status{Allocation: on(1, 0).Allocation, Placement: on(1, 0).Placement}}}
	})
	for _, c := range []struct {
		run  scheduler.Run
		lose bool
		lost bool
	}{{on(1, 8), false, false}, {on(1, 16), true, true}, {on(2, 16), false, false}} {
		w.Lock()
		if c.lose {
			w.jobs.lose(w.jobs.ByID[id], "killed", 0)
		}
		w.Unlock()
		if err := w.Do(t.Context(), []scheduler.Action{c.run}); err != nil {
			t.Fatal(err)
		}
		w.Lock()
		news := w.jobs.Events.Any(func(ev scheduler.Event) bool { _, is := ev.(scheduler.Exited); return is })
		if e := w.jobs.ByID[id]; e.Lost != c.lost || news != c.lost {
			t.Errorf("%d GPUs: lost: %v, the scheduler will hear: %v, want %v", c.run.Allocation.GPUs, e.Lost, news, c.lost)
		}
		w.Unlock()
	}
}
