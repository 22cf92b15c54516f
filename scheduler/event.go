package scheduler

import (
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

// An Event is something that happened in the backend: Submitted, Described, Restored, Profiled,
// Reported, Exited, NodesChanged or Computed.
type Event interface {
	// apply brings what the scheduler knows up to date: see Scheduler.Step. What is to be
	// done at once it adds to Scheduler.immediate.
	apply(s *Scheduler, now time.Time) error
}

// Submitted: a job was accepted. The scheduler keeps the pointer.
type Submitted struct{ Spec *job.Spec }

// Described: a job's program stated what only it knows: batch limits, schedule, target. Spec
// replaces the submitted specification of the same ID; what was learned of the job stays. The
// scheduler keeps the pointer.
type Described struct{ Spec *job.Spec }

// Restored: a job was known before the scheduler was started again, and goes on from the given
// status. Of a job that has ended, only what it tells about its class is kept, and its ID stays
// in use. The scheduler keeps the pointer.
type Restored struct {
	Spec    *job.Spec
	Status  job.Status
	Batch   job.BatchSize // that the scheduler last asked for; zero: the agent decides
	Reports []job.Report  // reports of its agent that were kept, oldest first
}

// Reported: a job's agent sent measurements. The first report after a Run
// says that the job really trains.
type Reported struct{ job.Report }

// An Outcome is how a job's processes ended.
type Outcome uint8

// The outcomes. After Lost the job goes on from its last checkpoint.
const (
	Done   Outcome = iota
	Failed         // ended with an error; terminal
	Cancelled
	Lost // a node or GPU failed under it; not terminal
)

var outcomeNames = [...]string{"done", "failed", "cancelled", "lost"}

// String returns the outcome in lower case.
func (o Outcome) String() string { return outcomeNames[o] }

// Exited: a job's processes ended.
type Exited struct {
	Job     job.ID
	Outcome Outcome
	Detail  string // details from the backend, for people
}

// NodesChanged: nodes joined, left, failed or were repaired, or the state of rentals or loans
// changed. Cluster has the nodes that there are now. Jobs on nodes that are gone exit as Lost in
// events of their own.
type NodesChanged struct {
	Cluster *cluster.Cluster
	Rentals []cluster.Rental // all of them, as they are now; none if nothing can be rented
	Loans   []cluster.Loan   // all of them, as they are now; none if nothing can be lent
}

// Computed: the work of the last Compute ended. It may never come, because a backend can end
// before the work does.
type Computed struct{ Result any } // as policy.Work.Do returns it

// An Action is something the backend is asked to do: Run, Preempt, Profile, Compute,
// Provision or Return.
type Action interface {
	// Topic says what it is about. Two actions of a round have the same topic only if they
	// are alternatives.
	Topic() Topic
}

// A Topic is what an action is about: a job, a group of nodes, or the world.
type Topic struct {
	Job   job.ID
	Group cluster.Group
	World string // what is asked of it, in words
}

// String names the topic.
func (t Topic) String() string {
	switch {
	case t.Job != "":
		return "job " + string(t.Job)
	case t.World != "":
		return t.World
	}
	return "group " + string(t.Group)
}

// Run: give a job exactly these GPUs, CPUs and memory, and this batch size. A job that
// already runs with something else saves a checkpoint, moves and restores it, unless the
// change is InPlace, Free or Resized.
type Run struct {
	Job        job.ID
	Allocation cluster.Allocation
	Placement  cluster.Placement
	Batch      job.BatchSize // zero: the agent decides
	// Free: the job gets as many GPUs of the same type and in the same shape on other
	// nodes, at no cost. Only with Options.FreeMoves.
	Free bool
	// Resized: workers of the job join or leave while it trains on (job.Spec.Resizes). As many
	// workers as it needs for that, of both types together, stay where they are.
	Resized bool
}

// InPlace reports whether the job stays on the same GPUs. Other CPUs, memory and batch
// sizes then take effect while it trains.
func (r *Run) InPlace(held cluster.Allocation, on cluster.Placement) bool {
	return r.Allocation.SameGPUs(&held) && r.Placement.SameGPUs(on)
}

// Preempt: let a job save a checkpoint, and take its GPUs.
type Preempt struct{ Job job.ID }

// Profile: measure a job on one GPU of each type (Sia §3.3.2). The measurements
// arrive as reports with Profile set, and Profiled follows the last of them.
type Profile struct {
	Job   job.ID
	Types []cluster.GPUType
}

// Compute: do the background work of a policy (policy.Work.Do). When it ends,
// Computed has its result. There is one at a time: the scheduler asks for the next only
// after Computed.
type Compute struct{ Work policy.Work }

// Provision: order or borrow nodes of a group until it has Nodes of them, or cancel orders, the
// last first, until it has no more. Nodes that are there stay. NodesChanged tells the result.
type Provision struct {
	Group cluster.Group
	Nodes int // that are there or ordered
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
