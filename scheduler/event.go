package scheduler

import (
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

// An Event is something that happened in the backend: Submitted, Described, Restored, Profiled, Reported,
// Exited, NodesChanged or Computed.
type Event interface {
	// apply updates the scheduler: see Scheduler.Step. It adds actions that must not wait for a round to
	// Scheduler.immediate.
	apply(s *Scheduler, now time.Time) error
}

// Submitted: a job was accepted. The scheduler keeps the pointer.
type Submitted struct{ Spec *job.Spec }

// Described: a job's program reported its batch limits, schedule or target. Spec replaces the submitted
// specification; measurements are kept. The scheduler keeps the pointer.
type Described struct{ Spec *job.Spec }

// Restored: the scheduler was restarted, and the job was submitted before. If the job has ended, only its ID and its
// class's statistics are kept. The scheduler keeps the pointer.
type Restored struct {
	Spec    *job.Spec
	Status  job.Status
	Batch   job.BatchSize // last requested by the scheduler; zero: the agent decides
	Reports []job.Report  // stored reports of its agent, oldest first
}

// Reported: a job's agent sent measurements. The first report after a Run shows that the job trains.
type Reported struct{ job.Report }

// An Outcome is how a job's processes ended.
type Outcome uint8

// The outcomes. After Lost the job continues from its last checkpoint.
const (
	Done   Outcome = iota
	Failed         // the job ended with an error; terminal
	Cancelled
	Lost // a node or GPU of the job failed; not terminal
)

var outcomeNames = [...]string{"done", "failed", "cancelled", "lost"}

func (o Outcome) String() string { return outcomeNames[o] }

// Exited: a job's processes ended.
type Exited struct {
	Job     job.ID
	Outcome Outcome
	Detail  string // for people
}

// NodesChanged: nodes, rentals or loans changed. Cluster has the present nodes. Jobs on lost nodes exit as Lost
// in separate events.
type NodesChanged struct {
	Cluster *cluster.Cluster
	Rentals []cluster.Rental // all; none if nothing can be rented
	Loans   []cluster.Loan   // all; none if nothing can be lent
}

// Computed: the background work that the action Compute started has ended. This event may never come.
type Computed struct{ Result any }

// An Action is a request to the backend: Run, Preempt, Profile, Compute, Provision or Return.
type Action interface {
	// Topic returns what the action is about. Two actions of a round have the same topic only if they are
	// alternatives.
	Topic() Topic
}

// A Topic is what an action is about: a job, a group of nodes, or something else in words.
type Topic struct {
	Job   job.ID
	Group cluster.Group
	World string // the request, in words
}

func (t Topic) String() string {
	switch {
	case t.Job != "":
		return "job " + string(t.Job)
	case t.World != "":
		return t.World
	}
	return "group " + string(t.Group)
}

// Run: give a job exactly these GPUs, CPUs and memory, and this batch size. A job that runs saves a checkpoint,
// moves and restores it, unless the change is InPlace, Free or Resized.
type Run struct {
	Job        job.ID
	Allocation cluster.Allocation
	Placement  cluster.Placement
	Batch      job.BatchSize // zero: the agent decides
	// Free: the job moves to other nodes with the same configuration, at no cost. Only with Options.FreeMoves.
	Free bool
	// Resized: workers join or leave while the job trains on (job.Spec.Resizes); enough of them stay in place.
	Resized bool
}

// InPlace reports whether the job stays on the same GPUs, and changes take effect while it trains.
func (r *Run) InPlace(held cluster.Allocation, on cluster.Placement) bool {
	return r.Allocation.SameGPUs(&held) && r.Placement.SameGPUs(on)
}

// Preempt: a job saves a checkpoint, and loses its GPUs.
type Preempt struct{ Job job.ID }

// Profile: measure a job on one GPU of each type (Sia §3.3.2). Reports with Profile set and then Profiled
// follow.
type Profile struct {
	Job   job.ID
	Types []cluster.GPUType
}

// Compute: run a computation for the policy in the background (policy.Work.Do). Event Computed has its result. There
// is one at a time.
type Compute struct{ Work policy.Work }

// Provision: order or borrow nodes of a group until it has Nodes of them, or cancel orders, the last first.
// NodesChanged reports the result.
type Provision struct {
	Group cluster.Group
	Nodes int // up or ordered
}

// Return: give back nodes that are rented or on loan. No job is on them.
type Return struct{ Nodes []cluster.NodeID }

// Profiled: the profiling runs of a job are complete, and plans may give it GPUs.
type Profiled struct{ Job job.ID }

// Topic implements Action.
func (r Run) Topic() Topic { return Topic{Job: r.Job} }

// Topic implements Action.
func (p Preempt) Topic() Topic { return Topic{Job: p.Job} }

// Topic implements Action.
func (p Profile) Topic() Topic { return Topic{Job: p.Job} }

// Topic implements Action.
func (p Provision) Topic() Topic { return Topic{Group: p.Group} }

// Topic implements Action.
func (Return) Topic() Topic { return Topic{World: "nodes given back"} }

// Topic implements Action.
func (Compute) Topic() Topic { return Topic{World: "background work"} }
