package local

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/local/statedir"
	"github.com/oxgang/oxgang/live/supervisor"
	"github.com/oxgang/oxgang/model/job"
)

// A job may write anything into its own folder. Whatever its state.json is, the scheduler starts,
// takes the job for running, and the other jobs go on.
func TestOpen_with_an_unreadable_state(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"garbage":     func(path string) error { return os.WriteFile(path, []byte("{"), 0o600) },
		"new version": func(path string) error { return os.WriteFile(path, []byte(`{"version":99}`), 0o600) },
		"pipe":        func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"link":        func(path string) error { return os.Symlink("/dev/zero", path) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, options(t, 2))
			bad, _ := s.speaks("bad")
			good, _ := s.speaks("good")
			dir := s.folders.Generation(statedir.Generation{Job: bad, Number: 1})
			path := filepath.Join(dir, "state.json")
			await(t, "running workers", func() bool { l, err := supervisor.Look(dir); return err == nil && l.Phase == supervisor.Running })
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if err := spoil(path); err != nil {
				t.Fatal(err)
			}
			opened := make(chan *Backend, 1)
			go func() {
				again, err := Open(s.jobs.store, s.o)
				if err != nil {
					t.Errorf("the scheduler does not start: %v", err)
				}
				opened <- again
			}()
			select {
			case again := <-opened:
				if again == nil || len(again.jobs.ByID[bad].runs) != 1 || len(again.jobs.ByID[good].runs) != 1 {
					t.Error("want both jobs to be known as running")
				}
			case <-time.After(20 * time.Second):
				t.Error("the scheduler waits for a file of a job")
			}
			if err := s.Cancel(bad); err != nil { // what its supervisor writes next replaces the file
				t.Fatal(err)
			}
			await(t, "the end of the job that spoiled its state", func() bool { return s.job(bad).Spec == nil && s.live(bad) == nil })
		})
	}
}

// live returns a job that has not ended or still has processes.
func (s *stage) live(id job.ID) *entry {
	s.Lock()
	defer s.Unlock()
	return s.jobs.ByID[id]
}
