package whatif

import (
	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// Remember saves and restores the state (memory.Rememberer). Do not call it on a Learner whose field keep is set.
func (l *Learner) Remember(m *memory.Codec) {
	c := &l.came
	m.Fields(l.pool, &l.now, &l.lost, &c.n, &c.first, &c.last, &c.gaps, &c.at)
	once := func(j **learned, m *memory.Codec) {
		memory.Once(m, j, func(j *learned, m *memory.Codec) { l.remember(j, m) })
	}
	memory.Map(m, &l.jobs, once)
	memory.Map(m, &l.classes, memory.To(func(c *class, m *memory.Codec) {
		once(&c.furthest, m)
		m.Fields(&c.delay, &c.delays, &c.used, &c.profile, &c.profiles)
	}))
}

func (l *Learner) remember(j *learned, m *memory.Codec) {
	memory.Once(m, &j.spec, (*job.Spec).Remember)
	memory.Once(m, &j.submitted, (*job.Spec).Remember)
	l.pool.Job(m, &j.belief)
	restored := j.restored != nil
	m.Fields(&restored, &j.came, &j.since, &j.ended, &j.held, &j.on, &j.ran, &j.starting, &j.used, &j.saved, &j.asked, &j.delay, &j.delays, &j.where, &j.progress,
		&j.counted.progress, &j.counted.epoch, &j.trained, &j.took, &j.lastReport, &j.rate, &j.tail)
	outcome := m.Int(int(j.outcome))
	memory.Slice(m, &j.pieces, (*piece).Remember)
	if m.Decoding() {
		j.outcome = scheduler.Outcome(outcome)
		if restored { // needed only with keep
			j.restored = &scheduler.Restored{Spec: j.spec}
		}
	}
}

func (p *piece) Remember(m *memory.Codec) {
	m.Fields(&p.epoch, &p.reports, &p.first, &p.last, &p.end, &p.sqr, &p.vari)
}
