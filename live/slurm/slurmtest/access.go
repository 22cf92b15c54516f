//go:build linux

package slurmtest

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
	"testing"

	"github.com/oxgang/oxgang/live/slurm/client"
)

// As returns a Runner that runs commands as the user called name.
func (r *Rig) As(name string) client.Runner {
	return func(ctx context.Context, c client.Command) ([]byte, error) {
		u, err := user.Lookup(name)
		if err != nil {
			return nil, err
		}
		cmd := exec.CommandContext(ctx, c.Name, c.Args...)
		var out, complaint bytes.Buffer
		cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Dir = bytes.NewReader(c.Input), &out, &complaint, r.path("work")
		cmd.Env = append(os.Environ(), "LC_ALL=C", "SLURM_TIME_FORMAT=%s")
		cmd.Env = append(cmd.Env, r.Environ()...)
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil {
			return nil, err
		}
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		if err != nil {
			return nil, err
		}
		if uid != 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
		}
		if err := cmd.Run(); err != nil {
			return nil, client.Failed(c.Name, complaint.String(), err)
		}
		return out.Bytes(), nil
	}
}

// Call runs a command as root and returns its output.
func (r *Rig) Call(t testing.TB, name string, args ...string) string {
	t.Helper()
	out, err := r.call(t.Context(), name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Submit submits, as root, a job that runs a shell command.
func (r *Rig) Submit(t testing.TB, shell string, options ...string) client.ID {
	t.Helper()
	id, err := r.Client().Submit(t.Context(), []byte("#!/bin/sh\n"+shell+"\n"), append([]string{"--output=/dev/null"}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// Job returns a job.
func (r *Rig) Job(t testing.TB, id client.ID) client.Job {
	t.Helper()
	jobs, err := r.Client().Jobs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range jobs {
		if jobs[i].ID == id {
			return jobs[i]
		}
	}
	t.Fatalf("Slurm does not know job %v", id)
	return client.Job{}
}

// Until waits until a job satisfies a condition.
func (r *Rig) Until(t testing.TB, id client.ID, what string, is func(*client.Job) bool) {
	t.Helper()
	if err := Await(t.Context(), what, func() (bool, error) {
		j := r.Job(t, id)
		return is(&j), nil
	}); err != nil {
		t.Fatalf("job %v: %v", id, err)
	}
}
