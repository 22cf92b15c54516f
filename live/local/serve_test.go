package local

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/oxgang/oxgang/live/agentapi"
	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement/submesh"
	"github.com/oxgang/oxgang/scheduler"
)

// equalSplit is a policy with all that may happen to a job: it divides the machine equally, but
// a job named urgent takes all of it, and rigid ones what they want.
type equalSplit struct{}

func (equalSplit) Traits() policy.Traits { return policy.Traits{} }

// Plan implements policy.Policy.
func (equalSplit) Plan(_ context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	t := s.Cluster.Types()[0]
	p := &policy.Plan{Jobs: make([]policy.Decision, len(s.Jobs))}
	free, open := t.GPUs, []int{}
	for i, j := range s.Jobs {
		if j.Holding() && (j.NonPreemptive || j.Phase == job.Restoring) {
			p.Jobs[i] = policy.Decision{Allocation: j.Allocation, Placement: j.Placement}
			free -= j.Allocation.GPUs
			continue
		}
		open = append(open, i)
	}
	grant := func(i, n int) {
		if n > 0 && n <= free {
			p.Jobs[i].Allocation.Configuration = cluster.Configuration{Nodes: 1, GPUs: n, GPUType: t.Type}
			free -= n
		}
	}
	if at := slices.IndexFunc(open, func(i int) bool { return s.Jobs[i].Name == "urgent" }); at >= 0 {
		grant(open[at], 4)
		return p, nil
	}
	for k, i := range open {
		n := (free + len(open) - k - 1) / (len(open) - k)
		switch j := s.Jobs[i]; {
		case !j.Adaptivity.Has(job.GPUCount):
			n = j.GPUs
		case j.NonPreemptive: // it has not spoken
			n = 1
		}
		grant(i, n)
	}
	return p, nil
}

// script is what users do: when, since the first submission.
var script = []struct {
	at    time.Duration
	name  string
	steps int
	gpus  int // 0: 1 to 4
}{
	{0, "a", 150, 0}, {200 * time.Millisecond, "b", 60, 0}, {400 * time.Millisecond, "urgent", 20, 4}, {600 * time.Millisecond, "d", 5000, 0},
}

// cancelled is when d is.
const cancelled = 1500 * time.Millisecond

// serveScript runs a scheduler on dir as the users of the script want it, until all jobs have
// ended. It kills itself at the step whose number is in die.
func serveScript(dir, die string) error {
	log, err := os.OpenFile(filepath.Join(dir, "steps"), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	n := 0
	var one sync.Mutex
	hook = func(step string) {
		one.Lock()
		defer one.Unlock()
		n++
		fmt.Fprintln(log, n, step)
		if fmt.Sprint(n) == die {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	o, err := scriptOptions(dir)
	if err != nil {
		return err
	}
	s, err := store.Open(dir)
	if err != nil {
		return err
	}
	defer s.Close()
	w, err := Open(s, o)
	if err != nil {
		return err
	}
	return serveWorld(w)
}

func scriptOptions(dir string) (Options, error) {
	self, err := os.Executable()
	o := DefaultOptions()
	o.Dir, o.Machine, o.Supervisor = dir, slots(4), []string{self, "keeper"}
	o.Grace, o.Report, o.Quiet, o.Socket = 3*time.Second, 100*time.Millisecond, 100*time.Millisecond, filepath.Join(dir, "agent.sock")
	return o, err
}

// serveWorld runs a scheduler over a backend.
func serveWorld(w *Backend) error {
	_ = os.Remove(w.o.Socket)
	l, err := net.Listen("unix", w.o.Socket)
	if err != nil {
		return err
	}
	api := agentapi.New(w.Agents(), agentapi.Options{Rate: 1000, Burst: 1000})
	so := scheduler.DefaultOptions()
	so.Round, so.Profile = 50*time.Millisecond, false
	sched, err := scheduler.New(equalSplit{}, submesh.New(submesh.DefaultOptions()), w.Cluster(), so)
	if err != nil {
		return err
	}
	w.Follow(so.Round, func(now time.Time) []*policy.Job { return sched.Snapshot(now).Jobs })
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { _ = w.Execute(ctx) }()
	go func() { _ = api.Serve(l) }()
	failed := make(chan error, 1)
	go func() { failed <- w.act() }()
	go w.converge()
	err = sched.Run(ctx, w, w)
	return errors.Join(err, <-failed, api.Shutdown(ctx))
}

// act does what the script says and has not been done yet.
func (b *Backend) act() error {
	var first time.Time
	for _, line := range script {
		if !first.IsZero() {
			time.Sleep(time.Until(first.Add(line.at)))
		}
		all, err := b.jobs.store.Jobs(true)
		if err != nil {
			return err
		}
		if len(all) > 0 {
			first = all[0].Status.Submitted
		}
		if slices.ContainsFunc(all, func(j *store.Job) bool { return j.Spec.Name == line.name }) {
			continue
		}
		spec := &job.Spec{GPUs: 1, MaxGPUs: 4, Adaptivity: job.StrongScaling}
		if line.gpus > 0 {
			spec = &job.Spec{GPUs: line.gpus, Adaptivity: job.Rigid}
		}
		request := store.Request{Command: []string{b.o.Supervisor[0], "worker", fmt.Sprint(line.steps)}, Dir: b.o.Dir, Env: os.Environ()}
		if _, err := b.Submit(line.name, spec, request); err != nil {
			return err
		}
		first = time.Now()
	}
	time.Sleep(time.Until(first.Add(cancelled)))
	if err := b.Cancel("d"); err != nil && slices.ContainsFunc(b.Live(), func(l Live) bool { return l.Spec.ID == "d" }) {
		return err
	}
	b.Drain()
	return nil
}

// converge writes down when the processes first were equal to the plan.
func (b *Backend) converge() {
	began := time.Now()
	for !b.converged() {
		time.Sleep(5 * time.Millisecond)
	}
	text := fmt.Sprint(time.Since(began).Milliseconds())
	_ = os.WriteFile(filepath.Join(b.o.Dir, "converged"), []byte(text), 0o600)
}

// converged reports whether what runs is what is planned, and nothing else.
func (b *Backend) converged() bool {
	b.Lock()
	defer b.Unlock()
	return !slices.ContainsFunc(b.jobs.Order, func(e *entry) bool {
		if !e.wants() {
			return len(e.runs) > 0
		}
		return len(e.runs) != 1 || e.current() == nil || !e.current().up
	})
}
