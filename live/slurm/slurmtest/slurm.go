// Package slurmtest is a simulated Slurm for tests. Jobs wait, start by priority, end, and are held, requeued and
// updated as in Slurm 22.05. It uses time.Now, so tests run it with testing/synctest.
//
// Start runs a real Slurm on this machine. Its GPUs are device files that lead to /dev/null, so jobs see
// CUDA_VISIBLE_DEVICES. It needs root and Debian's packages slurmctld, slurmd, slurm-client, slurmdbd, munge and
// mariadb-server. It skips the test if something is missing or SLURMRIG is not set; make slurm-test sets it.
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

// requeueDelay is how long a requeued job waits, unless its start time is updated. Source: observed, Slurm 22.05:
// 121 s.
const requeueDelay = 121 * time.Second

// A Slurm is a simulated slurmctld with its nodes. It is safe for concurrent use.
type Slurm struct {
	// Before and After are called around every command that changes something. An error of Before prevents the
	// command.
	Before, After func(command string) error
	// Refuse returns the message with which a command is refused, or "". Change it with Refusing while a scheduler
	// runs.
	Refuse func(command string) string

	mu    sync.Mutex
	nodes []client.Node
	jobs  []*Job // by number
	down  bool   // it does not answer
	wrong []string
}

// A Job is a job with its program.
type Job struct {
	client.Job
	Work    float64 // remaining GPU-seconds
	Saved   float64 // Work at the last checkpoint
	Exit    int     // status of the program
	Noticed bool
	Starts  []string
	noticed time.Time
	since   time.Time
	earlier time.Time // earliest start
	before  uint32    // priority before it was held
}

// An Ask describes a job that a test submits.
type Ask struct {
	Name, User, Account, Comment string
	Partition                    string // default gpu
	Nodes, PerNode               int    // default 1
	Type                         string // of GPU; empty: any
	Work                         float64
	Limit                        time.Duration // 0: none
	Exit                         int
	Nice                         int
	Priority                     uint32
	Held, NoRequeue              bool
	After                        client.ID
	Begin                        time.Duration // delay of the start
}

// New returns a Slurm with nodes of partition gpu.
func New(nodes ...client.Node) *Slurm { return &Slurm{nodes: nodes} }

// Node returns a node of partition gpu.
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

// LoseState deletes all jobs, like a slurmctld that lost its saved state. Running programs are killed.
func (s *Slurm) LoseState() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.jobs = nil
}

// Older simulates a slurmctld that was killed and restored an older state, in which the running job id still waits and
// its program has ended.
func (s *Slurm) Older(id client.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settle()
	j := s.jobs[id-1]
	s.requeue(j, "JobHeldAdmin")
	j.Restarts--
	j.keep("JobHeldAdmin")
}

func (j *Job) keep(reason string) {
	if j.Priority > 0 {
		j.before = j.Priority
	}
	j.Priority, j.Reason = 0, reason
}

// Jobs returns all jobs, including ended ones.
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

// Down makes the controller stop answering, or answer again if down is false. Jobs continue.
func (s *Slurm) Down(down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = down
}

// SetNode sets the state of a node. DOWN requeues the jobs on it, or ends them if they cannot be requeued.
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

// Job returns a job.
func (s *Slurm) Job(id client.ID) Job {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settle()
	return *s.jobs[id-1]
}

// Wrong returns all violations of invariants, such as a GPU that two jobs hold.
func (s *Slurm) Wrong() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.wrong) > 0 {
		return fmt.Errorf("slurmtest: %q", s.wrong)
	}
	return nil
}
