package backfill

import (
	"slices"

	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/model/cluster"
)

// Remember saves and restores the schedule (memory.Rememberer), except data that can be computed from its jobs.
func (s *Schedule) Remember(m *memory.Codec) {
	m.Fields(&s.now, &s.round, &s.length)
	memory.Slice(m, &s.types, func(t *cluster.TypeInfo, m *memory.Codec) {
		m.Fields((*string)(&t.Type), &t.GPUs, &t.Nodes, &t.PerNode)
	})
	memory.Map(m, &s.jobs, memory.To((*virtualJob).Remember))
	if m.Decoding() && m.Err() == nil {
		s.rebuild(m)
	}
}

func (t *virtualJob) Remember(m *memory.Codec) {
	m.Fields((*string)(&t.id), &t.submitted, &t.priority, &t.restart, &t.total, &t.stated, &t.reached, &t.service, &t.on, &t.started,
		&t.since, &t.before, &t.ended, &t.gone, &t.seen)
	memory.Slice(m, &t.options, func(o *Option, m *memory.Codec) {
		m.Fields(&o.Nodes, &o.GPUs, (*string)(&o.GPUType), &o.Rate, &o.spent)
	})
	memory.Slice(m, &t.at, func(a *share, m *memory.Codec) {
		memory.Number(&a.node, m)
		memory.Number(&a.gpus, m)
	})
}

func (s *Schedule) rebuild(m *memory.Codec) {
	s.pools = pools(s.types)
	s.waiting, s.running = nil, nil
	for _, t := range s.jobs {
		switch {
		case !t.ended.IsZero():
		case t.on < 0:
			s.waiting = append(s.waiting, t)
		case t.on >= len(t.options) || !s.holds(t):
			m.Fail("backfill: job %s runs where it cannot", t.id)
			return
		default:
			s.running = append(s.running, t)
			s.pools[s.typeOf(t.options[t.on].GPUType)].add(t.at, -1)
		}
	}
	slices.SortFunc(s.waiting, before)
	slices.SortFunc(s.running, startedBefore)
}

func (s *Schedule) holds(t *virtualJob) bool {
	k := s.typeOf(t.options[t.on].GPUType)
	return k >= 0 && !slices.ContainsFunc(t.at, func(a share) bool { return a.node < 0 || a.node >= len(s.pools[k].free) })
}
