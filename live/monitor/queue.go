package monitor

import (
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/fallback"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/ledger"
)

// A Source has functions for values that a Queue cannot observe, called once a round by the scheduler's goroutine. They
// may be nil.
type Source struct {
	// Fallback returns the state of the policy's fallback.
	Fallback func() fallback.State
	// Stopping returns, by type, the GPUs still used by processes of jobs that have lost them.
	Stopping func() map[cluster.GPUType]int
	// ClockMoved returns how far the machine's clock was set forward; negative if back.
	ClockMoved func() time.Duration
}

// A Queue computes the metrics of one queue of the scheduler. It is a scheduler.Observer; Timed is a listener of a
// Watch. Only the scheduler's goroutine may call its methods, unless stated otherwise.
type Queue struct {
	m      *Metrics
	name   string
	source Source
	usage  usage
	rows   map[job.ID]*policy.Job // of the last snapshot
	bill   bill
	ledger *ledger.Recorder
	shown  bool
}

// Queue returns an observer of the queue called name, whose rounds take place at intervals of round. Counters continue
// from an earlier observer with this name.
func (m *Metrics) Queue(name string, round time.Duration, s Source) *Queue {
	q := &Queue{m: m, name: name, source: s, rows: make(map[job.ID]*policy.Job)}
	q.ledger = ledger.NewRecorder(time.Time{}, nil, q.enter)
	q.usage = usage{q: q, held: make(map[job.ID]*holding)}
	for _, v := range []*prometheus.CounterVec{m.rounds, m.refused, m.fallbacks, m.iterations, m.interrupted, m.restarts, m.fenced, m.spent} {
		v.WithLabelValues(name)
	}
	for _, c := range fallback.Causes() {
		m.failures.WithLabelValues(name, c.String())
	}
	m.gpus.DeletePartialMatch(prometheus.Labels{"queue": name}) // some types may no longer exist
	m.fallback.WithLabelValues(name).Set(0)
	m.interval.WithLabelValues(name).Set(round.Seconds())
	return q
}

// Leading sets whether this process is the leader that plans for the queue. It is safe for concurrent use.
func (q *Queue) Leading(yes bool) { q.m.leader.WithLabelValues(q.name).Set(bit(yes)) }

// Fenced counts a write that was refused because another leader has taken over. It is safe for concurrent use.
func (q *Queue) Fenced() { q.m.fenced.WithLabelValues(q.name).Inc() }

// Explained sets the time of the prediction that explanations use. It is safe for concurrent use.
func (q *Queue) Explained(at time.Time) { q.m.explained.WithLabelValues(q.name).Set(unix(at)) }

// Budget sets the limit on the mean cost per hour of rented nodes; invalid values are ignored. It is safe for
// concurrent use.
func (q *Queue) Budget(perHour float64) {
	if finite(perHour) && perHour >= 0 {
		q.m.limit.WithLabelValues(q.name).Set(perHour)
	}
}

// Timed records how long the stages of a round took.
func (q *Queue) Timed(t *Timing) {
	q.m.rounds.WithLabelValues(q.name).Inc()
	q.m.last.WithLabelValues(q.name).Set(unix(t.Ended))
	if q.source.ClockMoved != nil {
		q.m.clock.WithLabelValues(q.name).Set(q.source.ClockMoved().Seconds())
	}
	q.m.duration.WithLabelValues(q.name).Observe(t.Ended.Sub(t.Begun).Seconds())
	for i := range t.Stages {
		s := &t.Stages[i]
		q.m.stages.WithLabelValues(q.name, s.Name, outcome(s)).Observe(s.Ended.Sub(s.Begun).Seconds())
	}
	if !q.shown { // nothing to plan
		q.phases(nil)
		q.usage.settle(t.Begun)
		q.spend(t.Begun)
		q.ledger.Advance(t.Begun)
	}
	q.shown = false
}

func outcome(s *Stage) string {
	switch {
	case s.Err != nil:
		return "failed"
	case s.Interrupted:
		return "interrupted"
	}
	return "ok"
}

// Event implements scheduler.Observer.
func (q *Queue) Event(now time.Time, ev scheduler.Event) {
	switch ev := ev.(type) {
	case scheduler.Reported:
		q.compare(&ev.Report)
	case scheduler.Exited:
		q.m.ended.WithLabelValues(q.name, ev.Outcome.String()).Inc()
		if ev.Outcome != scheduler.Lost {
			delete(q.rows, ev.Job)
		}
	case scheduler.NodesChanged:
		q.pay(now, ev.Rentals)
	}
	q.usage.event(now, ev)
	q.ledger.Event(now, ev)
}

// Round implements scheduler.Observer.
func (q *Queue) Round(s *policy.Snapshot, p *policy.Plan, acts []scheduler.Action) {
	q.shown = true
	clear(q.rows)
	for _, j := range s.Jobs {
		q.rows[j.ID] = j
	}
	q.plan(p)
	q.policy()
	q.decide(s, acts)
	q.phases(s.Jobs)
	q.pay(s.Now, s.Rentals)
	q.foresee(s, p)
	q.fair(s)
	q.usage.round(s, acts)
	q.ledger.Round(s, p, acts)
	q.priced(p)
}

func (q *Queue) plan(p *policy.Plan) {
	if p.Refused != "" {
		q.m.refused.WithLabelValues(q.name).Inc()
		return
	}
	q.m.iterations.WithLabelValues(q.name).Add(float64(max(0, p.Stats.Iterations)))
	if finite(p.Stats.Gap) {
		q.m.gap.WithLabelValues(q.name).Set(math.Max(0, p.Stats.Gap))
	}
	if p.Stats.Interrupted {
		q.m.interrupted.WithLabelValues(q.name).Inc()
	}
}

func (q *Queue) policy() {
	if q.source.Fallback == nil {
		return
	}
	st := q.source.Fallback()
	q.m.fallback.WithLabelValues(q.name).Set(bit(st.Active))
	if st.Active {
		q.m.fallbacks.WithLabelValues(q.name).Inc()
	}
	if st.Failures > 0 {
		q.m.failures.WithLabelValues(q.name, st.Cause.String()).Inc()
	}
}

func (q *Queue) phases(jobs []*policy.Job) {
	var n [job.Completed]int
	for _, j := range jobs {
		if !j.Phase.Terminal() {
			n[j.Phase]++
		}
	}
	for p := range job.Completed {
		q.m.jobs.WithLabelValues(q.name, p.String()).Set(float64(n[p]))
	}
}

func bit(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

func unix(t time.Time) float64 { return float64(t.UnixMilli()) / 1e3 }

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

func (q *Queue) enter(e *ledger.Entry) {
	if e.Job == nil {
		return
	}
	of := []string{q.name, e.Job.User, string(e.Job.Class), string(e.Type), e.TenureName(), e.Use.String()}
	q.m.used.WithLabelValues(of...).Add(e.Time.Seconds())
	if finite(e.Paid) && e.Paid > 0 {
		q.m.paid.WithLabelValues(of...).Add(e.Paid)
	}
	if finite(e.Rent) && e.Rent > 0 {
		q.m.rent.WithLabelValues(of...).Add(e.Rent)
	}
}

func (q *Queue) priced(p *policy.Plan) {
	q.m.price.DeletePartialMatch(prometheus.Labels{"queue": q.name})
	for i := range p.Prices {
		if t := &p.Prices[i]; finite(t.Price) {
			q.m.price.WithLabelValues(q.name, string(t.Type)).Set(t.Price)
		}
	}
}
