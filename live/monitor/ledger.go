package monitor

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler/ledger"
)

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
