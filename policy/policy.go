// Package policy defines what a scheduling policy gets and returns in each round: a Snapshot
// goes in, a Plan comes out. Check says whether a plan keeps the rules.
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

// A Snapshot is everything a policy may look at in one round. It is immutable,
// and a job whose row did not change since the last round keeps its pointer:
// a policy that keeps state between rounds finds changed rows by comparing
// pointers.
type Snapshot struct {
	Now     time.Time
	Round   int
	Length  time.Duration // of a round
	Cluster *cluster.Cluster
	Jobs    []*Job // active, by submission time, then ID
	// Computed is what the Background of an earlier plan returned, or an error if it failed or
	// panicked. It is shown once; nil: none ended since the last round. Nobody
	// changes it, because a round may be decided again.
	Computed any
	// Rentals are the nodes that can be rented, with the state of their orders; none if nothing
	// can be rented. Nodes that are there are in Cluster too.
	Rentals []cluster.Rental
	// Loans are the nodes that are lent while their owner does not need them; none if
	// nothing can be lent. Nodes that are there are in Cluster too.
	Loans []cluster.Loan
	// Classes is what is believed of the classes of jobs that were seen, or are known
	// beforehand, by class; nil where nothing learns it.
	Classes []*perf.ClassStats
	// Locality is how much longer steps of some classes of jobs take in several racks than in one; nil: of none is
	// it known.
	Locality perf.LocalityCosts
	// Continuing is what jobs hold that are not among Jobs; nil: all active ones are. Only policies with
	// Traits.Keeps are shown such a snapshot.
	Continuing *Continuing
}

// Index returns where a job is among Jobs, and among those of a plan; -1 if it is not, or s is
// nil. Complexity: linear in the jobs.
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

// SeveralRacks returns what several racks cost the class of a job; false: it is not known, or there is no such job.
func (s *Snapshot) SeveralRacks(id job.ID) (perf.LocalityCost, bool) {
	j := s.Job(id)
	if j == nil {
		return perf.LocalityCost{}, false
	}
	c, known := s.Locality[j.Class]
	return c, known
}

// A Job is one row of a snapshot: what was submitted, what happened since, and
// what the scheduler believes of its speed.
type Job struct {
	*job.Spec
	job.Status
	Perf perf.Model
	// Limits are the batch limits Perf is to be asked with: those of the Spec,
	// unless the model borrows another GPU type's.
	Limits *job.BatchLimits
	// Sensitivity is what CPUs and memory are believed to do to the job's speed;
	// Perf has it too. Nil: nothing.
	Sensitivity *perf.Sensitivity
}

// A Policy answers each round's snapshot with a plan.
//
// It reads no clock, no network and no global random source: its plans are a
// function of how it was made and of the snapshots it has been shown, in
// order. It may keep state (a warm start, a planned window). It must not
// modify the snapshot. An error means that the last plan should stay.
//
// Traits is the same in every call. It says what the scheduler has to provide, and what the
// policy decides.
type Policy interface {
	Traits() Traits
	Plan(ctx context.Context, s *Snapshot) (*Plan, error)
}

// Traits say what a policy asks of the scheduler, and what it decides. The zero value is a
// policy that uses only what was submitted: it is shown no believed speed that would have to be
// measured first, and every job runs on as many GPUs as it asks for.
type Traits struct {
	Models  bool // it decides by believed speed: one-GPU profiles are taken for it
	Sizes   bool // it chooses how many GPUs an elastic job has
	Classes bool // it decides by what is believed of classes of jobs: see Snapshot.Classes
	Pools   bool // beliefs of the jobs of one class are to be pooled, so that a new job is known
	Rents   bool // it says how many nodes are rented: the whole cluster is for rent, where no part of it is said to be
	Borrows bool // it says how many nodes are on loan
	// Steady: plans depend on the rows of the jobs and on the nodes, and neither on the time nor on
	// earlier rounds, so that a round before which nothing happened needs no new plan. Plans of
	// background work, rented nodes and classes are made in every round all the same.
	Steady bool
	// Keeps, with Steady: a job that holds GPUs keeps them, and the decision on it stays as it is, until its row or the
	// nodes change or there is a reservation; and all else in a plan depends on it only by the GPUs that it holds of each
	// node. So it may be left out: see Snapshot.Continuing and Job.Continues.
	Keeps bool
	// IgnoresProgress: plans do not depend on what jobs report of their progress (job.Status: Progress, Epoch, Reported),
	// so that a simulation may leave out reports which say nothing else.
	IgnoresProgress bool
}

// A Plan is the answer for one round.
type Plan struct {
	// Jobs holds one decision per job of the snapshot, in the same order.
	Jobs []Decision
	// Prices are the dual prices of the GPU types, where the policy has them: what one more GPU
	// of a type would add to the objective.
	Prices []TypePrice
	Stats  Stats
	// Capacity is how many nodes of a group are wanted, including those on their way. A group
	// that is missing keeps its nodes. Nodes that a placement of this plan is on stay. Source:
	// BOA §5.2, "Cluster Sizing".
	Capacity map[cluster.Group]int
	// Return are nodes on loan, or rented, that go back, by ascending ID. No placement of this plan is on
	// them. Source: Lyra §4.
	Return []cluster.NodeID
	// Background is started now, if not nil, unless one is still under way, or the
	// plan is refused: a policy that wants a result asks in every plan until it is
	// shown one.
	Background Work
	// Fungible says that CPUs and memory of the allocations are what the policy
	// would like jobs to have: where nodes count them, the placer gives each job
	// what makes the most of its node, more or less than the plan says. In other
	// plans no job gets more than its allocation names.
	Fungible bool
	// Refused, if not empty, says why the policy's own plan was refused; this
	// one then keeps what was.
	Refused string
}

// A Decision is what one job gets for one round.
type Decision struct {
	// Allocation is what is granted. Zero grants nothing; a running job is
	// then preempted.
	Allocation cluster.Allocation
	// Placement says where. Nil leaves it to a placement.Placer.
	Placement cluster.Placement
	// Batch is the batch size to train with. Zero leaves it to the job's agent.
	Batch job.BatchSize
	Why   Reason
}

// Returned returns how many GPUs of a type are on nodes of c that go back.
func (p *Plan) Returned(c *cluster.Cluster, t cluster.GPUType) int {
	gpus := 0
	for _, id := range p.Return {
		if i, ok := c.Index(id); ok && c.Nodes()[i].GPUType == t {
			gpus += c.Nodes()[i].Capacity.GPUs
		}
	}
	return gpus
}

// A TypePrice is the dual price of one GPU of a type, in objective units, and
// those of the CPUs and memory of the type's nodes, where the policy has them.
type TypePrice struct {
	Type   cluster.GPUType
	Price  float64
	CPU    float64 // of one core
	Memory float64 // of 10^9 host bytes
}

// Stats says how a plan was found. It holds no times: those would differ
// between runs.
type Stats struct {
	Iterations int
	Objective  float64 // of the plan
	Bound      float64 // no plan is better
	Gap        float64 // see Gap
	// Interrupted: the context ended first. The plan is the best found until then.
	Interrupted bool
	// Failed, if not empty, says why the last background work failed; what was
	// planned before continuing.
	Failed string
}

// Gap returns |bound - objective| / max(1, |objective|): by how much, relatively, a plan
// may fall short of the best.
func Gap(objective, bound float64) float64 {
	return math.Abs(bound-objective) / max(1, math.Abs(objective))
}
