package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxgang/oxgang/live/control"
	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/model/job"
)

// A session is a fake scheduler and the environment of commands that talk to it.
type session struct {
	*fake
	state string
}

func newSession(t *testing.T) *session {
	t.Helper()
	dir := t.TempDir()
	s := &session{fake: newFake(dir), state: filepath.Join(dir, "state")}
	if err := s.start(s.state); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *session) submit(t *testing.T, name string) job.ID {
	t.Helper()
	r := control.NewRequest()
	r.Name, r.Command, r.Dir = name, []string{"true"}, "/"
	id, err := s.Submit(t.Context(), &r)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// A process is a command under way.
type process struct {
	cmd            *exec.Cmd
	stdout, stderr *bufio.Reader
}

// run starts a command.
func (s *session) run(t *testing.T, args ...string) *process {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "oxgang", args...)
	cmd.Env = append(os.Environ(), "OXGANG_STATE="+s.state)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return &process{cmd, bufio.NewReader(stdout), bufio.NewReader(stderr)}
}

// line reads one line, which must be want.
func line(t *testing.T, r *bufio.Reader, want string) {
	t.Helper()
	got, err := r.ReadString('\n')
	if err != nil || got != want+"\n" {
		t.Fatalf("got line %q, %v, want %q", got, err, want)
	}
}

// ends reads the rest of what a process says; status is what it must end with.
func (p *process) ends(t *testing.T, status int) (stdout, stderr string) {
	t.Helper()
	var out, bad bytes.Buffer
	_, err := io.Copy(&out, p.stdout)
	if err == nil {
		_, err = io.Copy(&bad, p.stderr)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Wait(); p.cmd.ProcessState.ExitCode() != status {
		t.Errorf("ended with %v, want status %d; it said %q", err, status, bad.String())
	}
	return out.String(), bad.String()
}

func (p *process) interrupt(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
}

// One who waits does so over a restart of the scheduler.
func TestSubmit_waits_over_restarts(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	s := newSession(t)
	p := s.run(t, "submit", "--name", "mnist", "--wait", "--", "true")
	line(t, p.stdout, "mnist")
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	text, err := p.stderr.ReadString('\n')
	if err != nil || !strings.HasPrefix(text, "no scheduler listens on "+control.Short(s.state)+"/control.sock") || !strings.HasSuffix(text, "; waiting for it\n") {
		t.Fatalf("said %q, %v", text, err)
	}
	end(s.fake, "mnist", "failed", "exit status 3")
	if err := s.start(s.state); err != nil {
		t.Fatal(err)
	}
	want := "error: job mnist: failed: exit status 3\nhint: see its output with: oxgang logs mnist\n"
	if _, got := p.ends(t, 1); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Ctrl-C ends the wait, not the job.
func TestSubmit_interrupted(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	s := newSession(t)
	p := s.run(t, "submit", "--name", "mnist", "--wait", "--", "true")
	line(t, p.stdout, "mnist")
	p.interrupt(t)
	want := "error: interrupted; job mnist continues\nhint: cancel it with: oxgang cancel mnist\n"
	if _, got := p.ends(t, 1); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if v, err := s.Job("mnist"); err != nil || v.HasEnded() {
		t.Errorf("job %+v, %v, want one that has not ended", v, err)
	}
}

// What is watched is shown anew until Ctrl-C, which is no failure.
func TestWatch(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	for _, command := range []string{"jobs", "top"} {
		t.Run(command, func(t *testing.T) {
			s := newSession(t)
			p := s.run(t, command, "--watch", "-o", "json")
			first, err := p.stdout.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			s.ChangeStatus(func(now *status.Status) { now.Queues[0].Round = 77 })
			s.submit(t, "seventy-seven")
			for seen := false; !seen; {
				text, err := p.stdout.ReadString('\n')
				if err != nil {
					t.Fatal(err)
				}
				seen = strings.Contains(text, "77") || strings.Contains(text, "seventy-seven")
			}
			p.interrupt(t)
			if _, bad := p.ends(t, 0); bad != "" || strings.Contains(first, "\x1b") {
				t.Errorf("said %q and %q, want nothing bad, and no codes of terminals", first, bad)
			}
		})
	}
}

// Who watches hears that the scheduler has gone.
func TestWatch_without_scheduler(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	s := newSession(t)
	p := s.run(t, "jobs", "--watch")
	if _, err := p.stdout.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	if _, got := p.ends(t, 1); !strings.HasPrefix(got, "error: no scheduler listens on ") {
		t.Errorf("got %q", got)
	}
}

// A log is followed until Ctrl-C, which is no failure, or the scheduler ends, which is.
func TestLogs_follow(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	s := newSession(t)
	id := s.submit(t, "mnist")
	if err := s.Say(id, "one\n"); err != nil {
		t.Fatal(err)
	}
	p, q := s.run(t, "logs", "mnist", "-f"), s.run(t, "logs", "mnist", "-f")
	line(t, p.stdout, "one")
	line(t, q.stdout, "one")
	if err := s.Say(id, "two\n"); err != nil {
		t.Fatal(err)
	}
	line(t, p.stdout, "two")
	line(t, q.stdout, "two")
	p.interrupt(t)
	if _, bad := p.ends(t, 0); bad != "" {
		t.Errorf("interrupted: said %q, want nothing", bad)
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	want := "error: log of job mnist: the scheduler stops; the job keeps running\n"
	if _, got := q.ends(t, 1); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
