package scheduler

import (
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/model/perf/estimate"
)

// A Memory is all that changes in a Scheduler, without its policy and placer. It shares no memory
// with a Scheduler of the same options but those and estimate.Cache.
type Memory struct {
	beliefs  *estimate.Pool
	classes  *estimate.Classes // nil: not learned
	locality perf.LocalityLearner
	cluster  *cluster.Cluster
	rentals  []cluster.Rental
	loans    []cluster.Loan
	round    int
	records  map[job.ID]*record
	active   []*record // by submission time, then ID
	gone     bool      // active has records in a terminal phase
	planned  time.Time // of the last round that had something to plan
	extra    time.Time // when a submission round is due; zero: none is
	between  bool      // the present round is a submission round
	// The policy's background work: whether some is under way, and the result of the
	// last, until a snapshot has shown it.
	computing bool
	computed  any
	// When the present round began, and when the next one does. Set by Run.
	begun, next time.Time
}

// memory makes the fields of the embedded Memory those of a Scheduler alone.
type memory = Memory

// Memory returns what the scheduler remembers; it changes with the next event or round.
func (s *Scheduler) Memory() *Memory { return s.memory }

// Remember makes m, of a Scheduler with the same options, all that the scheduler knows. Both go on
// with the same memory: one of them must not be used any more.
func (s *Scheduler) Remember(m *Memory) { s.memory, s.still, s.continuing = m, still{}, continuing{} }

// Computing reports whether background work of the policy is under way.
func (m *Memory) Computing() bool { return m.computing }

// Active returns how the jobs are that have not ended, by submission time, then ID. Reports are
// left out. The specifications are shared and must not be changed.
func (m *Memory) Active() []Restored {
	var all []Restored
	for _, r := range m.active {
		if !r.status.Phase.Terminal() {
			all = append(all, Restored{Spec: r.spec, Status: r.status, Batch: r.batch})
		}
	}
	return all
}

// Nodes returns the nodes there are, and what can be rented and borrowed.
func (m *Memory) Nodes() NodesChanged {
	return NodesChanged{Cluster: m.cluster, Rentals: m.rentals, Loans: m.loans}
}
