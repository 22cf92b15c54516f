package serve

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/testdata"
	"github.com/oxgang/oxgang/live/account"
	"github.com/oxgang/oxgang/live/control"
	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/model/job"
)

// torchPython returns an interpreter that imports torch and oxgang as a user, and the environment for it; or skips the test.
// That of the virtual environment may be where the user cannot come: then another of its version takes its packages.
func torchPython(t *testing.T, u account.User) (python string, env []string) {
	t.Helper()
	if os.Getenv("OXGANG_E2E") == "" {
		t.Skip("a real training takes a minute: OXGANG_E2E=1 go test ./live/serve -run TestUsers_train")
	}
	root := testdata.Root(t)
	packages, err := filepath.Glob(filepath.Join(root, ".cache", "venv", "lib", "python3.*", "site-packages"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range packages {
		env = []string{"PATH=/usr/bin:/bin", "OMP_NUM_THREADS=1", "PYTHONDONTWRITEBYTECODE=1", "PYTHONPATH=" + filepath.Join(root, "python") + ":" + p}
		for _, python = range []string{filepath.Join(root, ".cache", "venv", "bin", "python"), "/usr/bin/" + filepath.Base(filepath.Dir(p))} {
			c := exec.Command(python, "-c", "import torch, oxgang")
			c.Dir, c.Env = "/", env
			c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(u.UID), Gid: uint32(u.GID)}}
			if c.Run() == nil {
				return python, env
			}
		}
	}
	t.Skip("no Python that another user can run has torch")
	return "", nil
}

// training asks to train a perceptron on one or two slots, 500 samples per second and slot, for longer than the test takes.
func (s *served) training(u account.User) *control.Request {
	s.t.Helper()
	python, env := torchPython(s.t, u)
	script := filepath.Join(testdata.Root(s.t), "python", "tests", "live_train.py")
	r := s.request("train", python, script, "mlp", "--epochs", "1000", "--samples", "1024", "--batch-size", "64", "--pace", "0.002", "--checkpoint-steps", "20")
	r.Dir, r.Env, r.GPUs = "/", env, control.Range{Min: 1, Max: 2}
	return r
}

// The Python client reports, saves and changes its size as the user who submitted the job.
func TestUsers_train(t *testing.T) {
	t.Parallel()
	o := several(t)
	o.Slots, o.Round, o.Grace = 2, 2*time.Second, 30*time.Second
	s := start(t, o)
	id := s.submitAs(alice, s.training(alice))
	s.until(id, "a report and a checkpoint", func(v *status.Job) bool { return v.Progress > 0 && v.Checkpoint != nil })
	if s.view(id).GPUs == 2 { // it shrinks for another
		s.submitAs(bob, s.script("his", "sleep 1000"))
	}
	before := s.view(id)
	s.until(id, "a checkpoint at another size", func(v *status.Job) bool {
		return v.GPUs > 0 && v.GPUs != before.GPUs && v.Restarts > before.Restarts && v.Checkpoint != nil && v.Checkpoint.Step > before.Checkpoint.Step
	})
	s.belongs(filepath.Join(s.o.Dir, "jobs", string(id), "checkpoints"), alice)
}

// until waits three minutes until a job is as it should be.
func (s *served) until(id job.ID, what string, holds func(*status.Job) bool) {
	s.t.Helper()
	for end := time.Now().Add(3 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		v := s.view(id)
		if holds(&v) {
			return
		}
		if v.HasEnded() || time.Now().After(end) {
			s.t.Fatalf("waited for %s: job %+v\n%s", what, v, s.output(id))
		}
	}
}

// belongs checks that there are checkpoints in a directory, and that all are a user's.
func (s *served) belongs(dir string, u account.User) {
	s.t.Helper()
	n := 0
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || path == dir || err == nil && strings.HasPrefix(e.Name(), ".") {
			return nil // an older one, deleted meanwhile
		}
		if err != nil {
			return err
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && int(info.Sys().(*syscall.Stat_t).Uid) != u.UID {
			s.t.Errorf("%s is uid %d's, want %d's", path, info.Sys().(*syscall.Stat_t).Uid, u.UID)
		}
		n++
		return err
	})
	if err != nil || n == 0 {
		s.t.Errorf("%d files of checkpoints in %s (%v), want some", n, dir, err)
	}
}
