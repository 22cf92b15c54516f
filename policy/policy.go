// Package policy defines the input and output of a scheduling policy: it gets a Snapshot in each round and
// returns a Plan. Check reports whether a plan keeps the rules.
package policy

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
)

// A Snapshot is the input of a policy in one round. It is immutable. An unchanged row of a job keeps its
// pointer from round to round.
type Snapshot struct {
	Now     time.Time
	Round   int
	Length  time.Duration // of a round
	Cluster *cluster.Cluster
	Jobs    []*Job // active, by submission time, then ID
	// Computed is the result or error of an earlier plan's Background, given once; nil: none ended since the
	// last round. It is read-only.
	Computed any
	// Rentals are nodes for rent, with their orders. Present ones are also in Cluster.
	Rentals []cluster.Rental
	// Loans are nodes that other owners lend. Present ones are also in Cluster.
	Loans []cluster.Loan
	// Classes are the statistics of job classes, by class; nil without any.
	Classes []*perf.ClassStats
	// Locality is how much longer steps take in several racks, by job class; nil: unknown.
	Locality perf.LocalityCosts
	// Continuing is the GPUs of active jobs that are not in Jobs; nil: none. Only policies with Traits.Keeps
	// get one.
	Continuing *Continuing
}

// Index returns the index of a job in Jobs and in a plan's; -1 if there is none, or s is nil. Linear time.
func (s *Snapshot) Index(id job.ID) int {
	if s == nil {
		return -1
	}
	return slices.IndexFunc(s.Jobs, func(j *Job) bool { return j.ID == id })
}

// Job returns the row of a job; nil if there is none, or s is nil.
func (s *Snapshot) Job(id job.ID) *Job {
	if i := s.Index(id); i >= 0 {
		return s.Jobs[i]
	}
	return nil
}

// SeveralRacks returns the cost of several racks for the class of a job; false if unknown.
func (s *Snapshot) SeveralRacks(id job.ID) (perf.LocalityCost, bool) {
	j := s.Job(id)
	if j == nil {
		return perf.LocalityCost{}, false
	}
	c, known := s.Locality[j.Class]
	return c, known
}

// A Job is one row of a snapshot: the submission, its state, and its estimated speed.
type Job struct {
	*job.Spec
	job.Status
	Perf perf.Model
	// Limits are the batch limits for Perf, if they differ from the Spec's because the model is borrowed from
	// another GPU type.
	Limits *job.BatchLimits
	// Sensitivity is the estimated effect of CPUs and memory, which Perf includes; nil: none.
	Sensitivity *perf.Sensitivity
}

// A Policy answers each round's snapshot with a plan.
//
// Its plans depend only on its construction and on the sequence of snapshots: it reads no clock, network or
// global random source. It must not modify the snapshot. An error means that the last plan should stay.
// Traits always returns the same value.
type Policy interface {
	Traits() Traits
	Plan(ctx context.Context, s *Snapshot) (*Plan, error)
}

// Traits are what a policy needs from the scheduler, and what it decides. The zero value uses only submitted
// data and runs every job on the requested GPUs.
type Traits struct {
	Models  bool // it uses estimated speeds: one-GPU profiles are measured for it
	Sizes   bool // it chooses the GPU counts of elastic jobs
	Classes bool // it uses Snapshot.Classes
	Pools   bool // estimates of jobs of one class are pooled, so that new jobs have one
	Rents   bool // it decides how many nodes are rented: the whole cluster, if nothing is declared
	Borrows bool // it decides how many nodes are on loan
	// Steady: plans depend only on job rows and nodes, not on time or earlier rounds. So a round without
	// changes needs no new plan, except with background work, rentals or classes.
	Steady bool
	// Keeps, with Steady: a job that holds GPUs keeps them, with the same decision, until its row or the
	// nodes change or there is a reservation. Other decisions depend on it only by its GPUs on each node. So
	// it may be left out: see Snapshot.Continuing and Job.Continues.
	Keeps bool
	// IgnoresProgress: plans do not depend on reported progress (job.Status: Progress, Epoch, Reported), so a
	// simulation may skip such reports.
	IgnoresProgress bool
}

// A Plan is the answer for one round.
type Plan struct {
	// Jobs are the decisions, in the order of the snapshot's jobs.
	Jobs []Decision
	// Prices are the dual prices of GPU types, if any: what one more GPU would add to the objective.
	Prices []TypePrice
	Stats  Stats
	// Capacity is the nodes wanted of each group, starting ones included. A missing group keeps its nodes.
	// Nodes with placements of this plan stay too. Source: BOA §5.2, "Cluster Sizing".
	Capacity map[cluster.Group]int
	// Return are nodes on loan or rented that go back, by ascending ID, without placements of this plan.
	// Source: Lyra §4.
	Return []cluster.NodeID
	// Background is started, unless other work is running or the plan is refused. A policy repeats it until
	// it gets a result.
	Background Work
	// Fungible means that CPUs and memory are only wishes: the placer gives each job what makes the most of
	// its node. In other plans no job gets more than its allocation.
	Fungible bool
	// Refused, if not empty, is why the policy's plan was refused; this plan keeps the last one.
	Refused string
}

// A Decision is what one job gets for one round.
type Decision struct {
	// Allocation is the grant. Zero grants nothing; a running job is then preempted.
	Allocation cluster.Allocation
	// Placement is the nodes. Nil leaves them to a placement.Placer.
	Placement cluster.Placement
	// Batch is the batch size to train with. Zero leaves it to the job's agent.
	Batch job.BatchSize
	Why   Reason
}

// Returned returns the GPUs of a type on nodes of c that go back.
func (p *Plan) Returned(c *cluster.Cluster, t cluster.GPUType) int {
	gpus := 0
	for _, id := range p.Return {
		if i, ok := c.Index(id); ok && c.Nodes()[i].GPUType == t {
			gpus += c.Nodes()[i].Capacity.GPUs
		}
	}
	return gpus
}

// A TypePrice is the dual price of one GPU of a type, and of its nodes' CPUs and memory if priced, in
// objective units.
type TypePrice struct {
	Type   cluster.GPUType
	Price  float64
	CPU    float64 // of one core
	Memory float64 // of 10^9 host bytes
}

// Stats are how a plan was found, without times, which would differ between runs.
type Stats struct {
	Iterations  int
	Objective   float64 // of the plan
	Bound       float64 // upper bound of all plans
	Gap         float64 // see Gap
	Interrupted bool    // the context ended first; the plan is the best until then
	// Failed, if not empty, is why the last background work failed.
	Failed string
}

// Gap returns |bound - objective| / max(1, |objective|): the relative distance of a plan from the bound.
func Gap(objective, bound float64) float64 {
	return math.Abs(bound-objective) / max(1, math.Abs(objective))
}
