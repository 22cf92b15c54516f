package lyra

import (
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
)

// A curve is the estimated speed of an elastic job on a GPU type: progress per second by workers, from the
// fewest. Where the job does not run, the speed with one worker less stands in.
type curve struct {
	of    shape
	rates []float64
	seen  int
}

type shape struct {
	model      perf.Model
	limits     *job.BatchLimits
	cluster    *cluster.Cluster
	unit       int
	least, top int
}

type place struct {
	id job.ID
	at int
}

func (t *tenant) modelled() bool { return t.Perf != nil && !t.Timed }

// setSpeeds sets the speeds of an elastic job with a model, and limits its workers to the fastest number, or its
// present one if larger.
func (d *demands) setSpeeds(t *tenant, at int) {
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
		t.rates, t.top = c.rates, max(t.held, t.least+slices.Index(c.rates, slices.Max(c.rates)))
	}
}

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

// speed returns the speed by workers, scaled so that the base demand is as fast as its workers; nil (linear) without
// a model. Source: Lyra §8, "a non-linear function of resources".
func (t *tenant) speed() func(workers int) float64 {
	if t.rates == nil {
		return nil
	}
	rates, least := t.rates, t.least
	return func(workers int) float64 { return float64(least) * rates[workers-least] / rates[0] }
}
