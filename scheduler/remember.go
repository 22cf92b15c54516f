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

// Remember saves the state, or restores it in a new Scheduler with the same options (memory.Rememberer).
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
	active, ended := m.parted()
	codec.Slice(c, &active, codec.To(m.rememberRecord))
	codec.Slice(c, &ended, func(id *job.ID, c *codec.Codec) { c.Fields((*string)(id)) })
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
}

func (m *Memory) parted() (active []*record, ended []job.ID) {
	for _, r := range m.active {
		if !r.status.Phase.Terminal() {
			active = append(active, r)
		}
	}
	for id, r := range m.records {
		if r == nil {
			ended = append(ended, id)
		}
	}
	slices.Sort(ended)
	return active, ended
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
