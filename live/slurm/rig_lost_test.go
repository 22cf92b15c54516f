package slurm

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/slurm/slurmtest"
)

// alive reports whether a start of a job's program lives: it holds the lock.
func (th *theatre) alive(name string) bool {
	f, err := os.Open(filepath.Join(th.dir, name+".lock"))
	if err != nil {
		return false
	}
	defer f.Close()
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	return errors.Is(err, syscall.EWOULDBLOCK)
}

// TestRig_lost: on a real Slurm elastic jobs are resized without slurmdbd as with it. After slurmctld has lost its
// state, the same scheduler handles new jobs that reuse the lost jobs' numbers: no job runs twice, and no GPU is
// held twice.
func TestRig_lost(t *testing.T) {
	if testing.Short() {
		t.Skip("minutes: six scenes on a real Slurm")
	}
	th := newTheatreOf(t, true, func(*Config) {})
	th.submit("a", 1, 8)
	th.wants("it grows", map[string]int{"a": 8})
	if err := th.Signal("slurmdbd", syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	th.submit("b", 4, 4)
	th.wants("without slurmdbd it shrinks for another", map[string]int{"a": 4, "b": 4})
	if err := errors.Join(th.Signal("slurmctld", syscall.SIGTERM), th.StartController(t.Context())); err != nil {
		t.Fatal(err)
	}
	th.Call(t, "scancel", th.jobs["b"].String())
	th.wants("without slurmdbd slurmctld is started again, and a user cancels a job", map[string]int{"a": 8})
	if err := th.StartDatabaseDaemon(t.Context()); err != nil {
		t.Fatal(err)
	}
	th.submit("c", 4, 4)
	th.wants("slurmdbd is back", map[string]int{"a": 4, "c": 4})
	before := th.jobs["a"]
	if err := th.LoseState(t.Context()); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	th.submit("d", 1, 8)
	th.wants("slurmctld has lost its state", map[string]int{"d": 8})
	if th.jobs["d"] != before {
		t.Errorf("the job after the loss has the number %v, want %v again", th.jobs["d"], before)
	}
	if err := slurmtest.Await(t.Context(), "the end of what was lost", func() (bool, error) { return !th.alive("a") && !th.alive("c"), nil }); err != nil {
		t.Error(err)
	}
	t.Logf("what ran before is gone %v after", time.Since(begin).Round(time.Second))
	th.submit("e", 4, 4)
	th.wants("another job", map[string]int{"d": 4, "e": 4})
	th.kill()
}
