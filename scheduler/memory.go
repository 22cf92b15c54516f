package scheduler

import (
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/model/perf/estimate"
)

// A Memory is the state of a Scheduler between rounds. It excludes the states of policy and placer.
type Memory struct {
	beliefs  *estimate.Pool
	classes  *estimate.Classes // nil: not learned
	locality perf.LocalityLearner
	nodes    supply
	round    int
	records  map[job.ID]*record
	active   []*record // by submission time, then ID
	hasEnded bool      // active has records in a terminal phase
	times    roundTimes
	// Whether background work of the policy is under way, and the result of the last one, until a snapshot has
	// it.
	computing bool
	computed  any
}

// memory keeps the fields of the embedded Memory unexported.
type memory = Memory

// Memory returns the state of the scheduler. It is valid until the next event or round.
func (s *Scheduler) Memory() *Memory { return s.memory }

// Remember replaces the scheduler's state by m, which comes from another Scheduler with the same options. That
// Scheduler must not be used afterwards.
func (s *Scheduler) Remember(m *Memory) {
	s.memory, s.steady, s.continuing = m, steadyRound{}, continuing{}
}

// Computing reports whether a background computation of the policy is running.
func (m *Memory) Computing() bool { return m.computing }

// Active returns the jobs that have not ended, without their reports, by submission time, then ID. The caller must not
// modify their specifications.
func (m *Memory) Active() []Restored {
	var all []Restored
	for _, r := range m.active {
		if !r.status.Phase.Terminal() {
			all = append(all, Restored{Spec: r.spec, Status: r.status, Batch: r.batch})
		}
	}
	return all
}

// Nodes returns the present nodes, and the state of rentals and loans.
func (m *Memory) Nodes() NodesChanged {
	return NodesChanged{Cluster: m.nodes.cluster, Rentals: m.nodes.rentals, Loans: m.nodes.loans}
}
