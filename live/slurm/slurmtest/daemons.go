//go:build linux

package slurmtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/oxgang/oxgang/live/slurm/client"
)

type daemon struct {
	cmd  *exec.Cmd
	done chan struct{} // closed at its end
}

func (r *Rig) start(name, program string, args ...string) error {
	log, err := os.OpenFile(r.path("log", name+".out"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), r.Environ()...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return err
	}
	d := &daemon{cmd, make(chan struct{})}
	go func() {
		defer close(d.done)
		_ = cmd.Wait() // see its log
	}()
	r.daemons[name] = d
	return nil
}

// Signal sends a signal to the daemon called name. After SIGTERM or SIGKILL it waits until the daemon has ended.
func (r *Rig) Signal(name string, s syscall.Signal) error {
	d := r.daemons[name]
	if d == nil {
		return fmt.Errorf("no daemon %q", name)
	}
	if err := d.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	if s != syscall.SIGTERM && s != syscall.SIGKILL {
		return nil
	}
	select {
	case <-d.done:
	case <-time.After(patience):
		return fmt.Errorf("%s has not ended %v after %v", name, patience, s)
	}
	delete(r.daemons, name)
	return nil
}

// ProcessorTime returns the user plus system time that a daemon has used.
func (r *Rig) ProcessorTime(name string) (time.Duration, error) {
	d := r.daemons[name]
	if d == nil {
		return 0, fmt.Errorf("no daemon %q", name)
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", d.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	const user, system, tick = 11, 12, 10 * time.Millisecond // proc(5): fields 14 and 15, counted after the )
	total := time.Duration(0)
	for _, i := range []int{user, system} {
		n, err := strconv.Atoi(fields[i])
		if err != nil {
			return 0, err
		}
		total += time.Duration(n) * tick
	}
	return total, nil
}

func (r *Rig) startMunge(ctx context.Context) error {
	socket := r.path("run", "munge.sock")
	if err := r.start("munged", "munged", "--foreground", "--force", "--key-file="+r.path("munge", "key"), "--socket="+socket,
		"--pid-file="+r.path("run", "munged.pid"), "--log-file="+r.path("log", "munged.log"), "--seed-file="+r.path("munge", "seed")); err != nil {
		return err
	}
	return Await(ctx, "munged", func() (bool, error) {
		_, err := os.Stat(socket)
		return err == nil, err
	})
}

// StartController starts slurmctld from its saved state and waits until it answers.
func (r *Rig) StartController(ctx context.Context) error {
	if err := r.start("slurmctld", "slurmctld", "-D", "-f", r.path("slurm.conf")); err != nil {
		return err
	}
	return Await(ctx, "slurmctld", func() (bool, error) {
		_, err := r.Client().Partitions(ctx)
		return err == nil, err
	})
}

// LoseState restarts slurmctld with an empty state.
func (r *Rig) LoseState(ctx context.Context) error {
	if err := r.Signal("slurmctld", syscall.SIGKILL); err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(r.path("state")), os.Mkdir(r.path("state"), 0o700)); err != nil {
		return err
	}
	return r.StartController(ctx)
}

func (r *Rig) startNodes(ctx context.Context) error {
	want := 0
	for i := range r.options.Groups {
		g := &r.options.Groups[i]
		if g.Absent {
			continue
		}
		want += g.Nodes
		for _, name := range g.nodes() {
			if err := r.StartNode(name); err != nil {
				return err
			}
		}
	}
	return Await(ctx, "nodes", func() (bool, error) {
		nodes, err := r.Client().Nodes(ctx)
		ready := 0
		for i := range nodes {
			if n := &nodes[i]; n.State != "UNKNOWN" && n.Usable() {
				ready++
			}
		}
		return ready >= want, err
	})
}

// StartNode starts the slurmd of a node.
func (r *Rig) StartNode(name string) error {
	if err := os.MkdirAll(r.path("run", "spool-"+name), 0o755); err != nil {
		return err
	}
	return r.start("slurmd-"+name, "slurmd", "-D", "-f", r.path("slurm.conf"), "-N", name)
}

// Close stops all daemons and leftovers of jobs, and removes the folder.
func (r *Rig) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if r.daemons["slurmctld"] != nil { // otherwise jobs outlive their slurmd
		_, _ = r.call(ctx, "scancel", "--quiet", "--user=root") // leftovers are killed below
	}
	names := slices.Sorted(maps.Keys(r.daemons))
	slices.Reverse(names)
	for _, n := range names {
		if r.Signal(n, syscall.SIGTERM) != nil {
			_ = r.Signal(n, syscall.SIGKILL)
		}
	}
	r.killRest()
	os.RemoveAll(r.Folder) //nolint:errcheck // it is in a folder for temporary files
}

func (r *Rig) killRest() {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil || !bytes.Contains(text, []byte(r.Environ()[0]+"\x00")) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(f))); err == nil && pid != os.Getpid() {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
		}
	}
}

func (r *Rig) call(ctx context.Context, name string, args ...string) (string, error) {
	out, err := r.As("root")(ctx, client.Command{Name: name, Args: args})
	return string(out), err
}
