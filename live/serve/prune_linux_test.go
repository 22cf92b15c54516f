package serve

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/control"
	"github.com/oxgang/oxgang/live/local/statedir"
	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/model/job"
)

// nothing keeps no logs and no journals.
var nothing = statedir.Limits{statedir.Logs: {Bytes: 1}, statedir.Journals: {Bytes: 1}}

// has reports whether the folder of a job has something in it.
func (s *served) has(id job.ID) bool {
	all, _ := os.ReadDir(filepath.Join(s.o.Dir, "jobs", string(id)))
	return len(all) > 0
}

// logs are how many jobs' logs were deleted.
func logs(t *testing.T, amounts []statedir.Amount, err error) int {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return amounts[0].Count
}

// A scheduler deletes what it is told not to keep, but nothing of jobs that run, wait or are being
// stopped; nobody else prunes meanwhile. Without it the same holds.
func TestPrune(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.Grace = time.Minute
	s := start(t, o)
	ready := filepath.Join(o.Dir, "ready")
	done, runs := s.submit("done", "true"), s.submit("runs", "sleep", "1000")
	stops := s.submit("stops", "sh", "-c", "trap '' TERM; echo $$ > "+ready+"; while :; do sleep 0.1; done")
	process := pid(t, ready)
	s.ended(done)
	if err := s.Cancel(t.Context(), stops); err != nil {
		t.Fatal(err)
	}
	await(t, "the folder of done to be let go", func() bool {
		amounts, err := s.Prune(t.Context(), &control.PruneRequest{Keep: nothing, DryRun: true})
		return logs(t, amounts, err) == 1
	})
	if _, err := Prune(o.Dir, nothing, false); err == nil || !strings.Contains(err.Error(), "is used by process") {
		t.Errorf("pruned beside the scheduler: %v, want that it uses the directory", err)
	}
	amounts, err := s.Prune(t.Context(), &control.PruneRequest{Keep: nothing})
	if n := logs(t, amounts, err); n != 1 || s.has(done) || !s.has(runs) || !s.has(stops) || !lives(process) {
		t.Errorf("deleted %d; folders: done %t, runs %t, stops %t; want only that of done deleted", n, s.has(done), s.has(runs), s.has(stops))
	}
	if v := s.view(done); v.Outcome != "done" {
		t.Errorf("job done is %s, want it to be known", v.Outcome)
	}
	if _, err := os.Stat(filepath.Join(o.Dir, journals)); err != nil {
		t.Error(err)
	}
	if _, err := s.Prune(t.Context(), &control.PruneRequest{Keep: statedir.Limits{"all": {}}}); err == nil || !strings.Contains(err.Error(), `"all"`) {
		t.Errorf("an unknown category: %v, want an error", err)
	}
	if err := s.Cancel(t.Context(), runs); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(process, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

// Without a scheduler, the files of jobs whose processes live are not touched either.
func TestPrune_without_scheduler(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	t.Parallel()
	o := options(t)
	if _, err := Prune(o.Dir, nothing, false); err == nil || !strings.Contains(err.Error(), "no scheduler has used this directory") {
		t.Errorf("no state directory: %v, want an error", err)
	}
	if _, err := os.Stat(o.Dir); err == nil {
		t.Error("a state directory was made")
	}
	o.Grace = time.Minute
	s := &served{t: t, o: o}
	ready := filepath.Join(t.TempDir(), "ready")
	var done, runs, stops job.ID
	var process int
	t.Run("serve", func(t *testing.T) {
		first := startOnly(t, o)
		done, runs = first.submit("done", "true"), first.submit("runs", "sleep", "1000")
		stops = first.submit("stops", "sh", "-c", "trap '' TERM; echo $$ > "+ready+"; while :; do sleep 0.1; done")
		process = pid(t, ready)
		first.ended(done)
		if err := first.Cancel(t.Context(), stops); err != nil {
			t.Fatal(err)
		}
		await(t, "runs", func() bool { return first.view(runs).Phase == job.Running.String() })
	})
	amounts, err := Prune(o.Dir, nothing, true)
	if n := logs(t, amounts, err); n != 1 || !s.has(done) {
		t.Errorf("a dry run: %d, folder %t; want 1 and that it is there", n, s.has(done))
	}
	amounts, err = Prune(o.Dir, nothing, false)
	if n := logs(t, amounts, err); n != 1 || s.has(done) || !s.has(runs) || !s.has(stops) {
		t.Errorf("deleted %d; folders: done %t, runs %t, stops %t; want only that of done deleted", n, s.has(done), s.has(runs), s.has(stops))
	}
	if err := syscall.Kill(process, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	again := start(t, o) // finds all that it needs
	if v := again.view(runs); v.HasEnded() {
		t.Errorf("job runs has ended: %s %s", v.Outcome, v.Detail)
	}
}

// A scheduler that starts while "oxgang prune" works waits for it, and ends if it is told to meanwhile.
func TestServe_waits_for_prune(t *testing.T) {
	t.Parallel()
	o := options(t)
	held, err := store.Open(o.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := held.Brief(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(300*time.Millisecond, cancel)
	if err := Run(ctx, o); err != nil {
		t.Errorf("interrupted while it waited: %v", err)
	}
	time.AfterFunc(300*time.Millisecond, func() { _ = held.Close() })
	start(t, o)
}
