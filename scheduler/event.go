package scheduler

import (
	"errors"
	"fmt"
	"time"

	"github.com/oxgang/oxgang/internal/printable"
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

// Submitted is the event that a job was accepted. The scheduler keeps Spec, so it must not change.
type Submitted struct{ Spec *job.Spec }

// Described is the event that a job's program reported its batch limits, schedule or target. Spec replaces the
// submitted specification and must not change later; the job's measurements are kept.
type Described struct{ Spec *job.Spec }

// Restored is the event, after a restart of the scheduler, that a job was submitted before the restart. The scheduler
// keeps only the ID and the class statistics of an ended job. Spec must not change.
type Restored struct {
	Spec    *job.Spec
	Status  job.Status
	Batch   job.BatchSize // batch size that the scheduler requested last; zero: the agent decides
	Reports []job.Report  // stored reports of its agent, oldest first
}

// Reported is the event that a job's agent sent measurements. The first report after a Run shows that the job trains.
type Reported struct{ job.Report }

// An Outcome is how a job's processes ended.
type Outcome uint8

// The outcomes. All but Lost end the job.
const (
	Done   Outcome = iota
	Failed         // the job ended with an error
	Cancelled
	Lost // a node or GPU of the job failed
)

var outcomeNames = [...]string{"done", "failed", "cancelled", "lost"}

func (o Outcome) String() string { return outcomeNames[o] }

// Exited is the event that a job's processes ended.
type Exited struct {
	Job     job.ID
	Outcome Outcome
	Detail  string // for people
}

// NodesChanged is the event that nodes, rentals or loans changed. Cluster has the present nodes. Jobs on lost
// nodes exit as Lost in separate events.
type NodesChanged struct {
	Cluster *cluster.Cluster
	Rentals []cluster.Rental // all groups for rent; empty if nothing can be rented
	Loans   []cluster.Loan   // all groups on loan; empty if nothing can be lent
}

// Computed is the event that the background work of the action Compute has ended. It may never occur.
type Computed struct{ Result any }

// An Action is a request to the backend: Run, Preempt, Profile, Compute, Provision or Return.
type Action interface {
	// Topic returns what the action is about. Two actions of a round share a topic only if they are alternatives.
	Topic() Topic
}

// A Topic states what an action is about; one field is set.
type Topic struct {
	Job   job.ID
	Group cluster.Group
	Other string // set if neither a job nor a group: what the request is about, in words
}

func (t Topic) String() string {
	switch {
	case t.Job != "":
		return printable.Named("job", string(t.Job))
	case t.Other != "":
		return t.Other
	}
	return "group " + string(t.Group)
}

// Run is the request to give a job exactly these GPUs, CPUs, memory and batch size. A running job saves a checkpoint,
// moves, and restores the checkpoint, unless the change is InPlace, Free or Resized.
type Run struct {
	Job        job.ID
	Allocation cluster.Allocation
	Placement  cluster.Placement
	Batch      job.BatchSize // zero: the agent decides
	// Free states that the job moves to other nodes with the same configuration, without a restart. It needs
	// Options.FreeMoves.
	Free bool
	// Resized states that workers join or leave while the others train (job.Spec.Resizes).
	Resized bool
}

// InPlace reports whether a job that holds allocation on placement stays on the same GPUs, so that the change takes
// effect while it trains.
func (r *Run) InPlace(allocation cluster.Allocation, placement cluster.Placement) bool {
	return r.Allocation.SameGPUs(&allocation) && r.Placement.SameGPUs(placement)
}

// Preempt is the request that a job saves a checkpoint and releases its GPUs.
type Preempt struct{ Job job.ID }

// Profile is the request to measure a job on one GPU of each type (Sia §3.3.2). Its results are events Reported with
// Profile set, and then one event Profiled.
type Profile struct {
	Job   job.ID
	Types []cluster.GPUType
}

// Compute is the request to run a policy's work in the background (policy.Work.Do). The event Computed has its result.
// At most one is in progress.
type Compute struct{ Work policy.Work }

// Provision is the request to order or borrow nodes until the group has Nodes of them, or to cancel orders, the latest
// first. NodesChanged reports the result.
type Provision struct {
	Group cluster.Group
	Nodes int // wanted number, up or ordered
}

// Return is the request to give rented or borrowed nodes back to their owner. No job is on them.
type Return struct{ Nodes []cluster.NodeID }

// Profiled is the event that a job's profiling runs are complete, so that plans may give it GPUs.
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
func (Return) Topic() Topic { return Topic{Other: "nodes given back"} }

// Topic implements Action.
func (Compute) Topic() Topic { return Topic{Other: "background work"} }

func (ev Submitted) apply(s *Scheduler, now time.Time) error {
	return s.submit(now, ev.Spec)
}

func (ev Described) apply(s *Scheduler, _ time.Time) error {
	return s.update(ev.Spec.ID, func(r *record) { r.describe(ev.Spec) })
}

func (ev Restored) apply(s *Scheduler, _ time.Time) error {
	return s.restore(&ev)
}

func (ev NodesChanged) apply(s *Scheduler, now time.Time) error {
	if ev.Cluster == nil {
		return errors.New("nodes changed: no cluster")
	}
	s.nodes.cluster, s.nodes.rentals, s.nodes.loans = ev.Cluster, ev.Rentals, ev.Loans
	s.changed(now)
	return nil
}

func (ev Profiled) apply(s *Scheduler, now time.Time) error {
	return s.update(ev.Job, func(r *record) {
		if r.status.Phase == job.Profiling {
			r.status.Phase = job.Waiting
			s.times.soon(now, &s.o)
		}
	})
}

func (ev Reported) apply(s *Scheduler, now time.Time) error {
	if err := ev.Validate(); err != nil {
		return fmt.Errorf("job %s: report: %w", ev.Job, err)
	}
	return s.update(ev.Job, func(r *record) { s.report(now, r, &ev.Report) })
}

func (ev Exited) apply(s *Scheduler, now time.Time) error {
	return s.update(ev.Job, func(r *record) { s.exit(now, r, ev.Outcome) })
}

func (ev Computed) apply(s *Scheduler, _ time.Time) error {
	if !s.computing {
		return errors.New("computed: no background work is under way")
	}
	s.computing, s.computed = false, ev.Result
	return nil
}
