// Package slurmtest is a Slurm in memory: a controller whose jobs wait, start in the order of their
// priorities, end, are held, requeued and updated, as a Slurm of version 22.05 was seen to do it. Its
// time is that of time.Now, so that tests run it in bubbles of testing/synctest.
package slurmtest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/oxgang/oxgang/live/slurm/client"
)

// requeueDelay is how long a job that was requeued waits before it may start, unless its start time
// is updated. Source: observed, Slurm 22.05: 121 s.
const requeueDelay = 121 * time.Second

// A Slurm is a controller with its nodes. Its methods may be called at the same time.
type Slurm struct {
	// Before and After are called about every command that writes, before and after it is done. An
	// error of Before keeps it from being done; both are returned to who gave the command.
	Before, After func(command string) error
	// Refuse, if not nil, returns the words with which a command is refused; empty: it is not. While a scheduler
	// runs, it is changed by Refusing.
	Refuse func(command string) string

	mu    sync.Mutex
	nodes []client.Node
	jobs  []*Job // by number
	down  bool   // the controller does not answer
	wrong []string
}

// A Job is a job with what the program in it does.
type Job struct {
	client.Job
	Work    float64 // GPU-seconds that are left; the program ends when there are none
	Saved   float64 // Work when a checkpoint was last saved
	Exit    int     // with which the program ends
	Noticed bool    // the program has had the signal, and has saved a checkpoint
	Starts  []string
	noticed time.Time // when
	since   time.Time // until when Work is up to date
	earlier time.Time // it may not start before
	before  uint32    // its priority before it was held
}

// An Ask is a job that is submitted.
type Ask struct {
	Name, User, Account, Comment string
	Partition                    string // default gpu
	Nodes, PerNode               int    // default 1
	Type                         string // of GPU; empty: any
	Work                         float64
	Limit                        time.Duration // 0: none
	Exit                         int
	Nice                         int
	Priority                     uint32 // default 1000 less the number of the job, so that it is first come, first served
	Held, NoRequeue              bool
	After                        client.ID     // it waits for the end of that job; 0: for none
	Begin                        time.Duration // it may not start before
}

// New returns a Slurm of some nodes of the partition gpu.
func New(nodes ...client.Node) *Slurm { return &Slurm{nodes: nodes} }

// Node returns a node of the partition gpu.
func Node(name, gpuType string, gpus int) client.Node {
	return client.Node{Name: name, State: "IDLE", Partitions: []string{"gpu"}, GPUs: client.GPUs{gpuType: gpus}, CPUs: 64}
}

// Submit submits a job.
func (s *Slurm) Submit(a Ask) client.ID {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := client.ID(len(s.jobs) + 1)
	j := &Job{Work: a.Work, Saved: a.Work, Exit: a.Exit}
	j.Job = client.Job{
		ID: id, Name: cmp.Or(a.Name, "job"), User: cmp.Or(a.User, "u"), Account: cmp.Or(a.Account, "ml"), Partition: cmp.Or(a.Partition, "gpu"),
		Comment: a.Comment, State: client.Pending, Reason: "Priority", Nice: a.Nice, Requeue: !a.NoRequeue, Submit: time.Now(),
		Limit: a.Limit, Unlimited: a.Limit == 0, Needed: max(1, a.Nodes), PerNode: client.GPUs{a.Type: max(1, a.PerNode)},
		Priority: cmp.Or(a.Priority, 1000-uint32(id)) - uint32(a.Nice),
	}
	j.GPUs = client.GPUs{a.Type: j.Needed * j.PerNode.Total()}
	j.NumTasks, j.CPUs = j.Needed, j.Needed
	j.earlier = time.Now().Add(a.Begin)
	if a.Held {
		j.keep("JobHeldUser")
	}
	if a.After != 0 {
		j.Dependency = fmt.Sprintf("afterany:%d", a.After)
	}
	s.jobs = append(s.jobs, j)
	s.settle()
	return id
}

// LoseState forgets all jobs, and numbers the next ones from 1, as a slurmctld does whose state is gone: what ran is
// killed.
func (s *Slurm) LoseState() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.jobs = nil
}

// Older has a job that runs wait as before its start, as a slurmctld shows it that was killed and has read an older state. Its
// program is gone.
func (s *Slurm) Older(id client.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settle()
	j := s.jobs[id-1]
	s.requeue(j, "JobHeldAdmin")
	j.Restarts--
	j.keep("JobHeldAdmin")
}

// keep holds a job.
func (j *Job) keep(reason string) {
	if j.Priority > 0 {
		j.before = j.Priority
	}
	j.Priority, j.Reason = 0, reason
}

// Jobs returns the jobs, those that ended among them.
func (s *Slurm) Jobs(ctx context.Context) ([]client.Job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.answers(ctx); err != nil {
		return nil, err
	}
	s.settle()
	all := make([]client.Job, len(s.jobs))
	for i, j := range s.jobs {
		all[i] = j.Job
		all[i].HeldGPUs, all[i].Flags = slices.Clone(j.HeldGPUs), slices.Clone(j.Flags)
	}
	return all, nil
}

// Nodes returns the nodes.
func (s *Slurm) Nodes(ctx context.Context) ([]client.Node, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.answers(ctx); err != nil {
		return nil, err
	}
	return slices.Clone(s.nodes), nil
}

func (s *Slurm) answers(ctx context.Context) error {
	if s.down {
		return &client.Error{Command: "scontrol", Message: "Unable to contact slurm controller (connect failure)", Err: client.ErrUnreachable}
	}
	return ctx.Err()
}

// Down has the controller answer no more, or again. Jobs run on.
func (s *Slurm) Down(down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = down
}

// SetNode changes the state of a node. Jobs on one that is DOWN are requeued, or end if they may not be.
func (s *Slurm) SetNode(name, state string, flags ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settle()
	i := slices.IndexFunc(s.nodes, func(n client.Node) bool { return n.Name == name })
	s.nodes[i].State, s.nodes[i].Flags = state, flags
	for _, j := range s.jobs {
		if state == "DOWN" && j.State == client.Running && slices.Contains(j.Nodes, name) {
			if j.Requeue {
				s.requeue(j, "BeginTime")
			} else {
				s.end(j, "NODE_FAIL", 1)
			}
		}
	}
	s.settle()
}

// Job returns a job as it is.
func (s *Slurm) Job(id client.ID) Job {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settle()
	return *s.jobs[id-1]
}

// Wrong returns what must never be and was, if anything: GPUs that two jobs had, for one.
func (s *Slurm) Wrong() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.wrong) > 0 {
		return fmt.Errorf("slurmtest: %q", s.wrong)
	}
	return nil
}
