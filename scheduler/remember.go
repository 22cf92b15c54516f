package scheduler

import (
	"errors"
	"slices"

	codec "github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/model/perf/estimate"
	"github.com/oxgang/oxgang/policy"
)

// Remember implements memory.Rememberer: it writes the state to c, or reads it from c into a new Scheduler, depending on
// the direction of c.
func (m *Memory) Remember(c *codec.Codec) {
	if m.computed != nil {
		c.Fail("a result of background work: %w", errors.ErrUnsupported)
	}
	codec.Once(c, &m.nodes.cluster, (*cluster.Cluster).Remember)
	codec.Slice(c, &m.nodes.rentals, (*cluster.Rental).Remember)
	codec.Slice(c, &m.nodes.loans, (*cluster.Loan).Remember)
	c.Fields(m.beliefs, &m.locality, &m.round, &m.times.planned, &m.times.extra, &m.times.between, &m.computing, &m.times.begun, &m.times.next)
	if m.classes != nil {
		c.Fields(m.classes)
	}
	active, ended, gone := m.parted()
	codec.Slice(c, &active, codec.To(m.rememberRecord))
	for _, ids := range []*[]job.ID{&ended, &gone} {
		codec.Slice(c, ids, func(id *job.ID, c *codec.Codec) { c.Fields((*string)(id)) })
	}
	if !c.Decoding() {
		return
	}
	m.active, m.records = active, make(map[job.ID]*record, len(active)+len(ended))
	for _, r := range active {
		m.records[r.spec.ID] = r
	}
	for _, id := range ended {
		m.records[id] = nil
	}
	for _, id := range gone {
		m.records[id] = cancelled
	}
}

func (m *Memory) parted() (active []*record, ended, gone []job.ID) {
	for _, r := range m.active {
		if !r.status.Phase.Terminal() {
			active = append(active, r)
		}
	}
	for id, r := range m.records {
		switch r {
		case nil:
			ended = append(ended, id)
		case cancelled:
			gone = append(gone, id)
		}
	}
	slices.Sort(ended)
	slices.Sort(gone)
	return active, ended, gone
}

func (m *Memory) rememberRecord(r *record, c *codec.Codec) {
	codec.Once(c, &r.spec, (*job.Spec).Remember)
	m.beliefs.Job(c, &r.belief)
	c.Fields(&r.status, &r.batch, &r.why, &r.decided)
	codec.Pointer(c, &r.row, r.rememberRow)
	codec.Own(c, r.row)
	c.Fields(&r.version)
	pinned := r.pinned != nil
	c.Fields(&pinned)
	if !pinned {
		return
	}
	if c.Decoding() {
		r.pinned = r.row.Pinned()
	}
	codec.Own(c, r.pinned)
	codec.Own(c, r.pinned.Spec)
}

func (r *record) rememberRow(row *policy.Job, c *codec.Codec) {
	model, _ := row.Perf.(*estimate.Model)
	codec.Once(c, &row.Spec, (*job.Spec).Remember)
	c.Fields(&row.Status)
	r.belief.Row(c, &model, &row.Limits)
	codec.Once(c, &row.Sensitivity, (*perf.Sensitivity).Remember)
	if c.Decoding() {
		row.Perf = believed(model, row.Spec)
	}
	if model == nil {
		codec.Own(c, row.Perf)
	}
}

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
	// computing is true while the policy computes in the background. computed is its result, until the next round uses it.
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
