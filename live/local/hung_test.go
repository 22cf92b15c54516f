package local

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/oxgang/oxgang/live/local/statedir"
)

// A supervisor that is stopped, and so lets its deadline pass, is shown with a deadline, and killed
// at it: its slots are free for the next job.
func TestHung_supervisor(t *testing.T) {
	t.Parallel()
	s := newStage(t, options(t, 1))
	id := s.shell(t, "hung", "trap '' TERM; while :; do sleep 1; done", 1)
	s.up(id, 1)
	dir := s.folders.Generation(statedir.Generation{Job: id, Number: 1})
	hung := keeper(t, dir)
	if err := syscall.Kill(hung, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(hung, syscall.SIGCONT) }) // where the test fails it can be stopped, and leaves nothing
	next := s.shell(t, "next", "exit 0", 1)
	if err := s.Cancel(id); err != nil {
		t.Fatal(err)
	}
	await(t, "trouble", func() bool { return strings.Contains(s.trouble(), "its supervisor does not answer: it is killed at ") })
	s.ended(next)
	await(t, "the end of the hung start", func() bool { return s.live(id) == nil })
}

// trouble returns what is wrong with any job.
func (s *stage) trouble() string {
	s.Lock()
	defer s.Unlock()
	for _, e := range s.jobs.Order {
		for _, r := range e.runs {
			if text := r.trouble(r.observed); text != "" {
				return text
			}
		}
	}
	return ""
}

// keeper returns the process that supervises a generation.
func keeper(t *testing.T, dir string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "state.json"))
	if err != nil {
		t.Fatal(err)
	}
	var state struct{ Keeper struct{ PID int } }
	if err := json.Unmarshal(text, &state); err != nil {
		t.Fatal(err)
	}
	return state.Keeper.PID
}
