package lyra

import (
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
)

// A curve is what is believed of the speed of an elastic job on a GPU type: progress per
// second, by workers from the fewest. A number of workers with which the job does not run is
// as fast as one less.
type curve struct {
	of    shape
	rates []float64
	seen  int // round
}

// A shape is what a curve depends on.
type shape struct {
	model      perf.Model
	limits     *job.BatchLimits
	cluster    *cluster.Cluster
	unit       int // GPUs of a worker of this type
	least, top int // workers
}

// A place is a job on a GPU type.
type place struct {
	id job.ID
	at int
}

// modelled reports whether more is known of a job's speed than its duration.
func (t *tenant) modelled() bool { return t.Perf != nil && !t.Timed }

// believe computes how fast an elastic job is by its model with each number of workers on a GPU
// type. It limits the workers to the number that makes it fastest, or to what it has if that is
// more. It keeps the result while nothing that it depends on changes.
func (d *demands) believe(t *tenant, at int) {
	if t.rates = nil; !t.modelled() || !t.elastic() {
		return
	}
	key := place{t.ID, at}
	c := d.policy.curves[key]
	if now := (shape{t.Perf, t.Limits, d.s.Cluster, d.gpus(t, at, 1), t.least, t.top}); c == nil || c.of != now {
		c = &curve{of: now, rates: d.curve(t, at)}
		d.policy.curves[key] = c
	}
	if c.seen = d.s.Round; len(c.rates) > 0 {
		t.rates, t.top = c.rates, max(t.held, t.least+best(c.rates))
	}
}

// curve returns the speeds of a job with each number of workers that it may have; nil if it is
// not believed to run with the fewest.
func (d *demands) curve(t *tenant, at int) []float64 {
	rates := make([]float64, 0, t.top-t.least+1)
	for w := t.least; w <= t.top; w++ {
		rate, _ := t.Job.Speed(d.Amount(t.index, at, d.gpus(t, at, w)))
		switch {
		case rate > 0:
		case len(rates) == 0:
			return nil
		default:
			rate = rates[len(rates)-1]
		}
		rates = append(rates, rate)
	}
	return rates
}

// best returns where the greatest of some numbers is first.
func best(rates []float64) int { return slices.Index(rates, slices.Max(rates)) }

// speed returns how many times as fast as one worker so many workers of a job are, where its
// fewest are as fast as so many; nil, which is linear, if nothing is known of it. Source: Lyra
// §8, "a non-linear function of resources".
func (t *tenant) speed() func(workers int) float64 {
	if t.rates == nil {
		return nil
	}
	rates, least := t.rates, t.least
	return func(workers int) float64 { return float64(least) * rates[workers-least] / rates[0] }
}
