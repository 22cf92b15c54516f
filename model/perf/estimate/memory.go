package estimate

import (
	"errors"

	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
)

// Remember saves the measurements of all classes in a checkpoint, or restores them. For single jobs see Pool.Job.
func (p *Pool) Remember(m *memory.Codec) {
	if p.o.Mode == Oracle {
		m.Fail("estimate: mode oracle: %w", errors.ErrUnsupported)
	}
	memory.Map(m, &p.classes, func(of **measured, m *memory.Codec) { memory.Once(m, of, (*measured).Remember) })
}

// Job saves or restores the job *j, which belongs to the pool, in a checkpoint.
func (p *Pool) Job(m *memory.Codec, j **Job) {
	memory.Pointer(m, j, func(j *Job, m *memory.Codec) {
		memory.Once(m, &j.spec, (*job.Spec).Remember)
		if m.Decoding() {
			j.o = p.o
		}
		memory.Once(m, &j.measured, (*measured).Remember)
		m.Fields(&j.epoch, &j.sqr, &j.vari, &j.grads, &j.own, &j.trust.lacking, &j.trust.on, &j.trust.marked)
		m.Fields(&j.built)
		memory.Slice(m, &j.input.curves, func(c *[]perf.CPURate, m *memory.Codec) { memory.Slice(m, c, (*perf.CPURate).Remember) })
		memory.Once(m, &j.input.known, (*perf.Sensitivity).Remember)
		j.Row(m, &j.model, &j.limits)
	})
}

// Remember lets m save or restore v.
func (v *Version) Remember(m *memory.Codec) { m.Fields(&v.own, &v.refits, &v.noise) }

// Row saves two pointers in a checkpoint, or restores them: to the job's model and to its batch limits. Pointers that
// were equal are equal again after a restore.
func (j *Job) Row(m *memory.Codec, model **Model, limits **job.BatchLimits) {
	memory.Once(m, model, func(of *Model, m *memory.Codec) { of.remember(m, j.o) })
	own := *limits == &j.spec.Batch
	m.Fields(&own)
	if !own {
		memory.Once(m, limits, (*job.BatchLimits).Remember)
		return
	}
	if m.Decoding() {
		*limits = &j.spec.Batch
	}
	memory.Own(m, *limits)
}

func (m *Model) remember(c *memory.Codec, o *Options) {
	wrong := m.wrong != nil
	c.Fields((*uint8)(&m.mode), (*uint8)(&m.goal), &m.init, &m.phi, &wrong, &m.class, &m.lacking)
	if c.Decoding() && wrong {
		m.wrong = o
	}
	memory.Once(c, &m.input, (*perf.Sensitivity).Remember)
	memory.Slice(c, &m.types, (*typeModel).Remember)
}

func (t *typeModel) Remember(m *memory.Codec) {
	m.Fields((*string)(&t.name), &t.params, &t.known, &t.replica, &t.perNode, &t.lender, &t.reference, &t.ratio)
}

func (p *measured) Remember(m *memory.Codec) {
	m.Fields(&p.refits)
	memory.Slice(m, &p.gradients, func(g *gradient, m *memory.Codec) { m.Fields(&g.epoch, &g.reports, &g.sqr, &g.vari) })
	memory.Slice(m, &p.types, func(p *profile, m *memory.Codec) {
		memory.Slice(m, &p.seen, (*perf.Observation).Remember)
		m.Fields(&p.counts, &p.noted, &p.news, &p.multi, &p.fit, &p.fresh)
	})
}

// Remember lets m save or restore cs.
func (cs *Classes) Remember(m *memory.Codec) {
	m.Fields(cs.pool, &cs.began)
	memory.Slice(m, &cs.list, func(c **class, m *memory.Codec) {
		memory.Once(m, c, func(c *class, m *memory.Codec) { c.remember(m, cs.pool) })
	})
	memory.Map(m, &cs.jobs, memory.To(func(l *life, m *memory.Codec) {
		memory.Once(m, &l.class, func(*class, *memory.Codec) { m.Fail("estimate: a job of a class that is not listed") })
		m.Fields(&l.target, &l.starts, &l.progress, &l.on, &l.marked)
	}))
}

func (c *class) remember(m *memory.Codec, pool *Pool) {
	m.Fields((*string)(&c.name), &c.arrivals.n, &c.arrivals.weight, &c.arrivals.last, &c.restart, &c.target, &c.ended, &c.sums, &c.furthest, &c.pace.trained, &c.pace.took)
	memory.Slice(m, &c.passed, (*mean).Remember)
	rememberForms(&c.forms, m)
	pool.Job(m, &c.belief)
	memory.Pointer(m, &c.shown, func(s *perf.ClassStats, m *memory.Codec) {
		m.Fields((*string)(&s.Class), &s.Arrivals, &s.Rate, &s.Restart, &s.Sizes, &s.Guessed)
		v, _ := s.Speeds.(*speed)
		memory.Pointer(m, &v, func(v *speed, m *memory.Codec) { v.remember(m, c.belief) })
		if m.Decoding() {
			s.Speeds = v
		}
	})
	memory.Own(m, c.shown)
	l := &c.last
	m.Fields(&l.rate, &l.sizes, &l.noise, &l.epochs, &l.forms, &l.news, &l.pace, &l.guessed)
}

func (v *speed) remember(m *memory.Codec, of *Job) {
	m.Fields(&v.pace)
	rememberForms(&v.forms, m)
	memory.Slice(m, &v.epochs, func(e **Model, m *memory.Codec) {
		memory.Pointer(m, e, func(e *Model, m *memory.Codec) { e.remember(m, of.o) })
	})
	var none *Model
	of.Row(m, &none, &v.limits)
}

func (n *mean) Remember(m *memory.Codec) { m.Fields(&n.n, &n.value) }

func rememberForms(f *job.Forms, m *memory.Codec) {
	memory.Slice(m, (*[]*job.Spec)(f), func(s **job.Spec, m *memory.Codec) { memory.Once(m, s, (*job.Spec).Remember) })
}
