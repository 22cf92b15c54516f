package scheduler

import (
	"time"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/policy"
)

// An Event is something that happened in a world: Submitted, Described, Restored, Profiled,
// Reported, Exited, NodesChanged or Computed.
type Event interface {
	// apply brings what the scheduler knows up to date: see Scheduler.Step. What is to be
	// done at once it adds to Scheduler.immediate.
	apply(s *Scheduler, now time.Time) error
}

// Submitted: a job was accepted. The scheduler keeps the pointer.
type Submitted struct{ Spec *job.Spec }

// Described: a job's program said what only it knows: batch limits, schedule, target. Spec
// replaces what was submitted, under the same ID; what was learned stays. The scheduler
// keeps the pointer.
type Described struct{ Spec *job.Spec }

// Restored: a job was known before the scheduler was started again, which takes it up as it
// was left. One that has ended teaches its class, and its ID stays taken. The scheduler
// keeps the pointer.
type Restored struct {
	Spec    *job.Spec
	Status  job.Status
	Batch   job.BatchSize // last asked for; zero: the agent decides
	Reports []job.Report  // all that is kept of what its agent measured, oldest first
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
	Detail  string // what the world says of it, for people
}

// NodesChanged: nodes joined, left, failed or were repaired, or a provider or lender of
// nodes has something to say; Cluster is what there is now. Jobs on nodes that are gone
// exit as Lost in events of their own.
type NodesChanged struct {
	Cluster *cluster.Cluster
	Rentals []cluster.Rental // all of them, as they are now; none if nothing can be rented
	Loans   []cluster.Loan   // all of them, as they are now; none if nothing can be lent
}

// Computed: the work of the last Compute ended. It may never come: a world can end
// before the work does.
type Computed struct{ Result any } // as policy.Work.Do returns it

// An Action is something a world is asked to do: Run, Preempt, Profile, Compute,
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

// Run: give a job exactly this. If it runs elsewhere or otherwise already, it
// checkpoints, moves and restores, unless it is InPlace or Free.
type Run struct {
	Job        job.ID
	Allocation cluster.Allocation
	Placement  cluster.Placement
	Batch      job.BatchSize // zero: the agent decides
	// Free: the same GPUs in number, type and shape on other nodes, at no cost;
	// only worlds that ask for it (Options.FreeMoves) get this.
	Free bool
	// Resized: of a job that resizes, workers join or leave and as many as it needs, of
	// both types together, stay where they are; it trains on (job.Spec.Resizes).
	Resized bool
}

// InPlace reports whether r leaves a job on the very GPUs it holds: other CPUs,
// memory and batch sizes take effect while it trains.
func (r *Run) InPlace(held cluster.Allocation, on cluster.Placement) bool {
	return r.Allocation.SameGPUs(&held) && r.Placement.SameGPUs(on)
}

// Preempt: checkpoint a job and take its GPUs away.
type Preempt struct{ Job job.ID }

// Profile: measure a job on one GPU of each type (Sia §3.3.2). What is
// measured comes back as reports with Profile set; the last is followed by
// Profiled.
type Profile struct {
	Job   job.ID
	Types []cluster.GPUType
}

// Compute: do a policy's work (policy.Work.Do) beside whatever else happens. When
// it ends, Computed says what it returned. There is one at a time: the next is
// asked for after Computed.
type Compute struct{ Work policy.Work }

// Provision: rent, or borrow, nodes until a group has so many, or cancel the last of those
// on their way until it has; nodes that are there stay. What comes of it, NodesChanged
// says.
type Provision struct {
	Group cluster.Group
	Nodes int // there and on their way
}

// Return: give nodes back that are rented or on loan. No job is on them.
type Return struct{ Nodes []cluster.NodeID }

// Profiled: a job's profiling runs are over; it may be planned for.
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
