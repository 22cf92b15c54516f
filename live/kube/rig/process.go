package rig

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"

	"k8s.io/apimachinery/pkg/util/rand"
)

// A Process is a program of a cluster.
type Process struct {
	Name string
	Log  string // of all its starts
	Args []string

	path string
	env  []string
	mu   sync.Mutex
	cmd  *exec.Cmd
	done chan struct{} // closed when the last start has ended
}

// Start starts the program, which must not be running.
func (p *Process) Start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd != nil && !closed(p.done) {
		return fmt.Errorf("start %s: it is already running", p.Name)
	}
	log, err := os.OpenFile(p.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("start %s: %w", p.Name, err)
	}
	defer log.Close()
	cmd := exec.Command(p.path, p.Args...)
	cmd.Stdout, cmd.Stderr, cmd.Env = log, log, p.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if err := spawn(cmd); err != nil {
		return fmt.Errorf("start %s: %w", p.Name, err)
	}
	done := make(chan struct{})
	go func() {
		_ = cmd.Wait() // see ProcessState
		close(done)
	}()
	p.cmd, p.done = cmd, done
	return nil
}

func closed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// Done returns a channel that is closed when the program, as last started, has ended.
func (p *Process) Done() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.done
}

// PID returns the process ID of the program as last started, or 0 if it was never started.
func (p *Process) PID() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return 0
	}
	return p.cmd.Process.Pid
}

// Running reports whether the program runs, even if it is stopped (SIGSTOP).
func (p *Process) Running() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cmd != nil && !closed(p.done)
}

// Kill sends SIGKILL if the program runs, and waits until it has ended.
func (p *Process) Kill() error {
	if !p.Running() {
		return nil
	}
	if err := p.Signal(syscall.SIGKILL); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-p.Done()
	return nil
}

// Terminate sends SIGTERM and waits for the end.
func (p *Process) Terminate(ctx context.Context) error {
	if err := p.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-p.Done():
		return nil
	case <-ctx.Done():
		return fmt.Errorf("terminate %s: %w", p.Name, ctx.Err())
	}
}

// Stop pauses the program (SIGSTOP).
func (p *Process) Stop() error { return p.Signal(syscall.SIGSTOP) }

// Cont resumes the program (SIGCONT).
func (p *Process) Cont() error { return p.Signal(syscall.SIGCONT) }

// Restart kills the program if it runs, and starts it again with its Args.
func (p *Process) Restart() error {
	if err := p.Kill(); err != nil {
		return err
	}
	return p.Start()
}

// Signal sends the program a signal.
func (p *Process) Signal(s os.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return fmt.Errorf("signal %s: it was never started", p.Name)
	}
	if err := p.cmd.Process.Signal(s); err != nil {
		return fmt.Errorf("signal %s: %w", p.Name, err)
	}
	return nil
}

// Tail returns the last 2000 bytes of the program's output.
func (p *Process) Tail() string {
	data, err := os.ReadFile(p.Log)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(data[max(0, len(data)-2000):]))
}

var spawns = sync.OnceValue(func() chan<- func() {
	c := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range c {
			f()
		}
	}()
	return c
})

// spawn starts cmd from a thread that never ends: the kernel sends a child its death signal when the thread
// that started it ends.
func spawn(cmd *exec.Cmd) error {
	err := make(chan error)
	spawns() <- func() { err <- cmd.Start() }
	return <-err
}

// Run starts an additional program called name, which ends with the cluster. Its output goes to name.log in the log
// directory. Cluster.Process returns it by its name.
func (c *Cluster) Run(name, path string, env []string, args ...string) (*Process, error) {
	p := &Process{
		Name: name, Log: filepath.Join(c.Logs, name+".log"), Args: args,
		path: path, env: append(slices.Clone(os.Environ()), env...),
	}
	if err := p.Start(); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.processes = append(c.processes, p)
	return p, nil
}

// FreePort returns a free loopback port. The port is below the range that the kernel assigns to clients, so that no
// client can occupy it.
func FreePort() (int, error) {
	const least, span, tries = 12000, 20000, 100
	for range tries {
		port := least + rand.Intn(span)
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		if err := l.Close(); err != nil {
			return 0, fmt.Errorf("free port: %w", err)
		}
		return port, nil
	}
	return 0, fmt.Errorf("free port: tried %d from %d on, all in use", tries, least)
}
