package generate

import (
	"math"
	"time"

	"github.com/oxgang/oxgang/internal/rng"
)

// lyraHours is the relative number of jobs by hour, from the five shared traces of the full cluster.
var lyraHours = [24]float64{
	0.64, 0.52, 0.39, 0.35, 0.36, 0.35, 0.43, 0.58, 0.96, 1.42, 1.90, 1.87,
	1.51, 1.63, 1.93, 2.00, 1.94, 1.86, 1.63, 1.55, 1.49, 1.31, 1.07, 0.84,
}

// Deviations of the shared traces from these rates.
const (
	lyraWeekend = 0.6  // factor on the rate of working days
	lyraKeep    = 0.8  // factor on the logarithm of a deviation per hour
	lyraVaries  = 0.45 // its standard deviation
)

func (f *lyraFamily) times(o Options) []time.Duration {
	p := pace{step: time.Hour, rates: []float64{1}}
	if f.days {
		p.rates = lyraRates(o)
	}
	at := p.times(rng.Stream(o.Seed, "workload/lyra/times"), o.Jobs, o.Span)
	for i := range at {
		at[i] = at[i].Truncate(time.Second)
	}
	return at
}

func lyraRates(o Options) []float64 {
	r := rng.Stream(o.Seed, "workload/lyra/rates")
	rates := make([]float64, int(math.Ceil(o.Span.Hours())))
	deviation := lyraVaries * r.NormFloat64()
	for h := range rates {
		rates[h] = lyraHours[h%24] * math.Exp(deviation)
		if weekday := h / 24 % 7; weekday >= 5 {
			rates[h] *= lyraWeekend
		}
		deviation = lyraKeep*deviation + lyraVaries*math.Sqrt(1-lyraKeep*lyraKeep)*r.NormFloat64()
	}
	return rates
}
