// Package policy defines what a scheduling policy receives and returns: a Snapshot of jobs and nodes in each round,
// and a Plan of who gets which GPUs. Check reports whether a plan keeps the rules.
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

// A Snapshot is the input of a policy in one round: all jobs and nodes. It is immutable. The row of a job that did
// not change has the same pointer as in the round before.
type Snapshot struct {
	Now     time.Time
	Round   int
	Length  time.Duration // length of a round
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

// Index returns the position of a job in Jobs, and in the plan for the snapshot; -1 if there is none, or s is nil.
// Linear time.
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

// SeveralRacks returns how much slower the class of a job trains when spread over several racks; false if unknown.
func (s *Snapshot) SeveralRacks(id job.ID) (perf.LocalityCost, bool) {
	j := s.Job(id)
	if j == nil {
		return perf.LocalityCost{}, false
	}
	c, known := s.Locality[j.Class]
	return c, known
}

// A Job is what a snapshot contains about one job: its submission, its state, and its estimated speed.
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

// A Policy decides which job gets which GPUs: it returns a plan for the snapshot of each round.
//
// Its plans depend only on its construction and on the sequence of snapshots: it reads no clock, network or global
// random source. It must not modify the snapshot. If it returns an error, jobs keep what they have. Traits always
// returns the same value.
type Policy interface {
	Traits() Traits
	Plan(ctx context.Context, s *Snapshot) (*Plan, error)
}

// Traits state what data a policy needs, and what it decides. The zero value uses only submitted data and runs every
// job on the GPUs that it requests.
type Traits struct {
	Models  bool // the policy uses estimated speeds: one-GPU profiles are measured for it
	Sizes   bool // the policy chooses the GPU counts of elastic jobs
	Classes bool // the policy uses Snapshot.Classes
	Pools   bool // estimates of jobs of one class are pooled, so that new jobs have one
	Rents   bool // it decides how many nodes are rented: the whole cluster, if nothing is declared
	Borrows bool // the policy decides how many nodes are on loan
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

// A Plan is what a policy decides for one round: what each job gets, and which nodes to rent or return.
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

// A Decision states what one job gets for one round, and why.
type Decision struct {
	// Allocation is the grant. Zero grants nothing; a running job is then preempted.
	Allocation cluster.Allocation
	// Placement is the nodes. Nil leaves them to a placement.Placer.
	Placement cluster.Placement
	// Batch is the batch size to train with. Zero leaves it to the job's agent.
	Batch job.BatchSize
	Why   Reason
}

// Returned returns how many GPUs of a type are on nodes of c that the plan gives back.
func (p *Plan) Returned(c *cluster.Cluster, t cluster.GPUType) int {
	gpus := 0
	for _, id := range p.Return {
		if i, ok := c.Index(id); ok && c.Nodes()[i].GPUType == t {
			gpus += c.Nodes()[i].Capacity.GPUs
		}
	}
	return gpus
}

// A TypePrice is the dual price of one GPU of a type, and of the CPUs and memory of its nodes if these have prices:
// what one more would add to the plan's objective.
type TypePrice struct {
	Type   cluster.GPUType
	Price  float64
	CPU    float64 // price of one core
	Memory float64 // price of 10^9 bytes of host memory
}

// Stats describe how good a plan is and how it was found. They contain no times, which would differ between runs.
type Stats struct {
	Iterations  int
	Objective   float64 // objective value of the plan
	Bound       float64 // upper bound of all plans
	Gap         float64 // see Gap
	Interrupted bool    // the context ended first; the plan is the best until then
	// Failed, if not empty, is why the last background work failed.
	Failed string
}

// Gap returns the relative distance of a plan's objective from its bound: |bound - objective| / max(1, |objective|).
func Gap(objective, bound float64) float64 {
	return math.Abs(bound-objective) / max(1, math.Abs(objective))
}
