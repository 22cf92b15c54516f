package monitor

import (
	"math"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/queue"
)

// Errors of models, fairness and cost.

// compare observes the error of the throughput predicted in the last round, whose model had not seen the
// measurement.
func (q *Queue) compare(r *job.Report) {
	j := q.rows[r.Job]
	if r.Profile || j == nil || j.Perf == nil || r.Configuration != j.Allocation.Configuration || j.Allocation.Mixed() {
		return
	}
	measured := throughput(j, r)
	if !(measured > 0) || !finite(measured) {
		return
	}
	predicted := j.Perf.Throughput(j.Allocation, r.Batch)
	if wrong := math.Abs(predicted-measured) / measured; predicted > 0 && finite(wrong) {
		q.m.wrong.WithLabelValues(q.name, string(r.Configuration.GPUType)).Observe(wrong)
	}
}

func throughput(j *policy.Job, r *job.Report) float64 {
	if r.StepTime <= 0 {
		return 0
	}
	replicas := r.Configuration.GPUs / j.ReplicaGPUs(r.Configuration.GPUType)
	return float64(r.Batch.PerReplica()*replicas) / r.Step().Seconds()
}

func (q *Queue) fair(s *policy.Snapshot) {
	var sum, worst, n float64
	for _, j := range s.Jobs {
		if rho := -queue.Unfairness(s, j); j.Target > 0 && finite(rho) {
			sum, worst, n = sum+rho, math.Max(worst, rho), n+1
		}
	}
	if n == 0 {
		q.m.fairness.DeleteLabelValues(q.name, "mean")
		q.m.fairness.DeleteLabelValues(q.name, "worst")
		return
	}
	q.m.fairness.WithLabelValues(q.name, "mean").Set(sum / n)
	q.m.fairness.WithLabelValues(q.name, "worst").Set(worst)
}

type bill struct {
	at   time.Time // settled up to this time; zero before the first
	rate float64   // per hour
}

func (q *Queue) pay(now time.Time, rentals []cluster.Rental) {
	q.spend(now)
	q.bill.rate = 0
	for i := range rentals {
		r := &rentals[i]
		q.bill.rate += float64(r.Ready+r.Starting+r.Leaving) * r.NodePrice()
	}
}

func (q *Queue) spend(now time.Time) {
	if d := now.Sub(q.bill.at); !q.bill.at.IsZero() && d > 0 && finite(q.bill.rate) {
		q.m.spent.WithLabelValues(q.name).Add(q.bill.rate * d.Hours())
	}
	if now.After(q.bill.at) {
		q.bill.at = now
	}
}

func (q *Queue) foresee(s *policy.Snapshot, p *policy.Plan) {
	cost := 0.0
	for i := range s.Rentals {
		r := &s.Rentals[i]
		n, ok := p.Capacity[r.Group]
		if !ok {
			n = r.Ready + r.Starting
		}
		cost += float64(max(0, n)) * r.NodePrice()
	}
	if finite(cost) {
		q.m.forecast.WithLabelValues(q.name).Set(cost)
	}
}
