package shockwave

import (
	"fmt"
	"math"
	"time"
)

// Total returns the expected duration of the whole job, at most the largest time.Duration. epochTimes maps each batch
// size to the time of one epoch; a missing batch size is an error. Source: Shockwave §5.
func (p *Predictor) Total(epochTimes map[int]time.Duration) (time.Duration, error) {
	total, _, err := p.times(epochTimes)
	return duration(total), err
}

// Remaining returns the expected duration of the job's remaining epochs, at least 0. Source: Shockwave §5.
func (p *Predictor) Remaining(epochTimes map[int]time.Duration) (time.Duration, error) {
	total, past, err := p.times(epochTimes)
	return duration(max(0, total-past)), err
}

func (p *Predictor) times(epochTimes map[int]time.Duration) (total, past float64, err error) {
	for i := range p.regimes {
		r := &p.regimes[i]
		d, ok := epochTimes[r.BatchSize]
		if !ok {
			return 0, 0, fmt.Errorf("regime %d: no epoch time for batch size %d, want one for each of %v", i+1, r.BatchSize, p.batchSizes())
		}
		if d < 0 {
			return 0, 0, fmt.Errorf("regime %d: epoch of batch size %d takes %v, want 0 or more", i+1, r.BatchSize, d)
		}
		total += r.Expected * float64(d)
		past += float64(r.Seen) * float64(d)
	}
	return total, past, nil
}

func duration(ns float64) time.Duration {
	if ns >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(math.Round(ns))
}
