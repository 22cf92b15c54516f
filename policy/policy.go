// Package policy defines what a scheduling policy receives and returns: a Snapshot of jobs and nodes in each round,
// and a Plan of who gets which GPUs. Check reports whether a plan keeps the rules.
package policy

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
)

// A Snapshot is the input of a policy in one round: all jobs and nodes. It is immutable. If nothing about a job
// changed, its row in Jobs is the same pointer as in the round before.
type Snapshot struct {
	// time at which the round starts
	Now time.Time
	// number of the round
	Round   int
	Length  time.Duration
	Cluster *cluster.Cluster
	Jobs    []*Job // active jobs, by submission time, then ID
	// Computed is the result, or the error, of Plan.Background from an earlier round. It is set once, and
	// nil if no background work ended since the last round. Policies must not modify it.
	Computed any
	// Rentals are the groups of nodes that can be rented, with their orders. Cluster includes the nodes
	// that are already rented.
	Rentals []cluster.Rental
	// Loans are the groups of nodes that other owners lend. Cluster includes the nodes that are on loan
	// now.
	Loans []cluster.Loan
	// Classes are the statistics of job classes, indexed by class; nil if there are none.
	Classes []*perf.ClassStats
	// Locality states how much longer a training step takes in several racks, for each job class; nil if
	// unknown.
	Locality perf.LocalityCosts
	// Continuing counts the GPUs of active jobs that Jobs omits; nil if it omits none. It is nil for
	// policies without Traits.Keeps.
	Continuing *Continuing
}

// Index returns the position of a job in Jobs, which is also its position in Plan.Jobs. It returns -1 if
// the job is missing or s is nil. It takes linear time.
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

// SeveralRacks returns how much slower jobs of the same class as job id train if their nodes are in several racks. It
// returns false if this is unknown.
func (s *Snapshot) SeveralRacks(id job.ID) (perf.LocalityCost, bool) {
	j := s.Job(id)
	if j == nil {
		return perf.LocalityCost{}, false
	}
	c, known := s.Locality[j.Class]
	return c, known
}

// A Job is the row of one job in a snapshot: its submission, its state, and its estimated speed.
type Job struct {
	*job.Spec
	job.Status
	// estimated speed; nil if unknown
	Perf perf.Model
	// Limits replace the batch size limits of Spec if Perf was estimated on another GPU type; nil means the
	// limits of Spec.
	Limits *job.BatchLimits
	// Sensitivity is the estimated effect of CPUs and memory on speed. Perf includes it. Nil if unknown.
	Sensitivity *perf.Sensitivity
}

// On reports whether the job holds GPUs of a node.
func (j *Job) On(n cluster.NodeID) bool {
	return slices.ContainsFunc(j.Placement, func(s cluster.Share) bool { return s.Node == n })
}

// A Policy decides which job gets which GPUs: Plan returns a plan for the snapshot of each round, and
// Traits states what the policy needs.
//
// Plans depend only on how the policy was constructed and on the sequence of snapshots, never on a clock,
// the network or the global random source. A policy must not modify the snapshot. If Plan returns an error,
// jobs keep their GPUs. Traits always returns the same value.
type Policy interface {
	Traits() Traits
	Plan(ctx context.Context, s *Snapshot) (*Plan, error)
}

// Traits state which data a policy needs and what it decides. A policy with zero Traits uses only submitted
// data, and runs every job on the GPUs that it requests.
type Traits struct {
	Models  bool // the policy uses estimated speeds, so every job is first profiled on one GPU
	Sizes   bool // the policy chooses the GPU counts of elastic jobs
	Classes bool // the policy uses Snapshot.Classes
	Pools   bool // jobs of a class share their estimates, so that a new job has one from the start
	// the policy decides how many nodes are rented; if none are declared for rent, all nodes count as
	// rented
	Rents   bool
	Borrows bool // the policy decides how many nodes are on loan
	// Steady means that plans depend only on job rows and nodes, not on time or earlier rounds. The
	// scheduler then skips rounds without changes, unless there is background work, or nodes for rent, or
	// statistics of classes.
	Steady bool
	// Keeps, which needs Steady, means that a job that holds GPUs keeps them until its row or the nodes
	// change or there is a reservation. Decisions about other jobs depend only on how many GPUs of each
	// node it holds. So snapshots may omit the job: see Snapshot.Continuing and Job.Continues.
	Keeps bool
	// IgnoresProgress means that plans do not depend on reported progress (Progress, Epoch and Reported of
	// job.Status), so a simulation may skip progress reports.
	IgnoresProgress bool
}

// A Plan is what a policy decides for one round: what each job gets, and which nodes to rent or return.
type Plan struct {
	// Jobs are the decisions, in the order of the snapshot's jobs.
	Jobs []Decision
	// Prices are the dual prices of GPU types, if the policy has any: the increase of its objective for one
	// more GPU.
	Prices []TypePrice
	Stats  Stats
	// Capacity is the number of nodes wanted in each group, including nodes that are starting. A missing
	// group keeps its nodes. A node on which this plan places a job is never released. Source: BOA §5.2,
	// "Cluster Sizing".
	Capacity map[cluster.Group]int
	// Return lists the nodes on loan or rented that are given back to their owner, by ascending ID. This
	// plan places no job on them. Source: Lyra §4.
	Return []cluster.NodeID
	// Background is work to run in the background after this round. It is not started while other work
	// runs, or if the plan is refused, so a policy repeats it in each plan until it receives a result.
	Background Work
	// Fungible means that the CPUs and memory of allocations are only wishes: the placer divides each node's CPUs
	// and memory so that jobs gain most. In other plans no job gets more than its allocation.
	Fungible bool
	// Refused is the reason why the policy's plan was refused; empty if it was not. A plan with a reason repeats the last
	// decisions.
	Refused string
}

// A Decision states what one job gets for one round, and why.
type Decision struct {
	// Allocation is what the job gets. A zero allocation makes a waiting job wait and preempts a running
	// one.
	Allocation cluster.Allocation
	// Placement names the nodes. If it is nil, a placement.Placer chooses them.
	Placement cluster.Placement
	// Batch is the batch size to train with. If it is zero, the job's agent chooses.
	Batch job.BatchSize
	Why   Reason
}

// Returned counts the GPUs of type t on those nodes of c that the plan gives back to their owners (Plan.Return).
func (p *Plan) Returned(c *cluster.Cluster, t cluster.GPUType) int {
	gpus := 0
	for _, id := range p.Return {
		if i, ok := c.Index(id); ok && c.Nodes()[i].GPUType == t {
			gpus += c.Nodes()[i].Capacity.GPUs
		}
	}
	return gpus
}

// A TypePrice is the dual price of one GPU of a type: how much the plan's objective would increase with one
// more. It also has prices for a core and for memory on nodes of this type, if the policy computes these.
type TypePrice struct {
	Type   cluster.GPUType
	Price  float64
	CPU    float64 // price of one core
	Memory float64 // price of 10^9 bytes of host memory
}

// Stats describe how good a plan is and how the policy found it. They contain no times, so that equal runs
// have equal Stats.
type Stats struct {
	// iterations of the solver
	Iterations  int
	Objective   float64 // objective value of the plan
	Bound       float64 // upper bound on the objective of any plan
	Gap         float64 // relative distance of Objective from Bound, see Gap
	Interrupted bool    // the context ended before the solver; the plan is the best that it had found
	// Failed is the error of the last background work; empty if it did not fail.
	Failed string
}

// Gap returns the relative distance of a plan's objective from its bound: |bound - objective| / max(1, |objective|).
func Gap(objective, bound float64) float64 {
	return math.Abs(bound-objective) / max(1, math.Abs(objective))
}

// Work is a long computation that a policy runs in the background while it plans further rounds. The
// scheduler passes its result to the policy once, as Snapshot.Computed. The function must not share data
// that it or the policy modifies.
type Work func(ctx context.Context) any

// Do runs the computation and returns its result; a panic becomes an error.
func (w Work) Do(ctx context.Context) (result any) {
	defer func() {
		if r := recover(); r != nil {
			result = fmt.Errorf("background work panicked: %v", r)
		}
	}()
	return w(ctx)
}

// A Promiser is a policy that promises some waiting jobs that they start by a certain time, even if more jobs are
// submitted later.
type Promiser interface {
	Policy
	// Promised returns the promised start of each waiting job that has one, as of the last plan. Call it
	// with the snapshot of that plan.
	Promised(s *Snapshot) map[job.ID]time.Time
}
