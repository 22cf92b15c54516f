package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/control"
	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/live/supervisor"
	"github.com/oxgang/oxgang/model/job"
)

// A served is a scheduler that runs until the test ends, and who asks it.
type served struct {
	*control.Client
	t    *testing.T
	o    Options
	said *voice
}

// A voice is what a scheduler has said.
type voice struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write implements io.Writer.
func (v *voice) Write(p []byte) (int, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.text.Write(p)
}

// options are those of a scheduler of four slots in a hurry.
func options(t *testing.T) Options {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o := DefaultOptions()
	o.Dir, o.Slots, o.Supervisor = filepath.Join(t.TempDir(), "state"), 4, []string{self, "keeper"}
	o.Round, o.Grace, o.Report, o.Quiet = 100*time.Millisecond, time.Second, 100*time.Millisecond, 100*time.Millisecond
	return o
}

// start runs a scheduler; when the test ends, its jobs are cancelled and it stops.
func start(t *testing.T, o Options) *served {
	t.Helper()
	s := startOnly(t, o)
	t.Cleanup(s.clear)
	return s
}

// startOnly runs a scheduler that stops when the test ends; its jobs go on.
func startOnly(t *testing.T, o Options) *served {
	t.Helper()
	if testing.Short() {
		t.Skip("starts processes")
	}
	s := &served{t: t, o: o, Client: control.NewClient(ControlSocket(o.Dir)), said: &voice{}}
	ctx, cancel := context.WithCancel(context.Background())
	ready, done := make(chan struct{}), make(chan error, 1)
	o.Log, o.Ready = s.said, func() { close(ready) }
	go func() { done <- Run(ctx, o) }()
	select {
	case <-ready:
	case err := <-done:
		cancel()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s
}

// clear ends all jobs, and waits until no supervisor has one.
func (s *served) clear() {
	now, err := s.Status(context.Background(), false)
	for _, v := range now.Jobs {
		wrong := s.Cancel(context.Background(), v.ID)
		if e, ok := errors.AsType[*control.Error](wrong); ok && e.Status == http.StatusConflict {
			continue // it has ended meanwhile
		}
		err = errors.Join(err, wrong)
	}
	if err != nil {
		s.t.Error(err)
	}
	dirs, err := filepath.Glob(filepath.Join(s.o.Dir, "jobs", "*", "1"))
	if err != nil {
		s.t.Error(err)
	}
	for _, dir := range dirs {
		await(s.t, "the end of "+dir, func() bool {
			state, err := supervisor.Look(dir)
			return err == nil && (state.Phase == supervisor.Ended || state.Phase == supervisor.Absent)
		})
	}
}

// await waits until something holds.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited 20 s for %s", what)
		}
	}
}

// request asks to run a command on one GPU.
func (s *served) request(name string, command ...string) *control.Request {
	r := control.NewRequest()
	r.Name, r.Command, r.Dir, r.Env = name, command, s.o.Dir, []string{"PATH=" + os.Getenv("PATH")}
	return &r
}

func (s *served) submit(name string, command ...string) job.ID {
	s.t.Helper()
	id, err := s.Submit(s.t.Context(), s.request(name, command...))
	if err != nil {
		s.t.Fatal(err)
	}
	return id
}

func (s *served) view(id job.ID) status.Job {
	s.t.Helper()
	v, err := s.Job(s.t.Context(), id)
	if err != nil {
		s.t.Fatal(err)
	}
	return v
}

// ended waits until a job has.
func (s *served) ended(id job.ID) status.Job {
	s.t.Helper()
	var v status.Job
	await(s.t, fmt.Sprintf("the end of job %s", id), func() bool { v = s.view(id); return v.HasEnded() })
	return v
}

// pid reads what a script wrote with echo $$ > file.
func pid(t *testing.T, path string) int {
	t.Helper()
	n := 0
	await(t, path, func() bool {
		text, err := os.ReadFile(path)
		if err == nil {
			_, err = fmt.Sscanf(string(text), "%d\n", &n)
		}
		return err == nil
	})
	return n
}

// lives reports whether a process of the test does.
func lives(pid int) bool { return pid > 1 && syscall.Kill(pid, 0) == nil }
