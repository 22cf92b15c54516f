package generate

import (
	"fmt"
	"math"
	"time"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/simulate/workload"
)

// burstJobs is the mean number of jobs in a burst: 45 minutes at twice the rate of newTrace. BOA gives none.
const burstJobs = 30

// mostBursty is the largest burstiness; the limit is 1 + 2 burstJobs.
const mostBursty = 2 * burstJobs

// CheckBurstiness returns an error if Bursty cannot generate arrivals with the squared coefficient of variation
// c2.
func CheckBurstiness(c2 float64) error {
	if !(c2 >= 1 && c2 <= mostBursty) { // rejects NaN, too
		return fmt.Errorf("burstiness %v, want 1 (Poisson) to %d", c2, mostBursty)
	}
	return nil
}

// Bursty replaces the submission times of all jobs, which must be sorted by time, so that the jobs arrive in bursts.
// The times follow a Poisson process that alternates between a high and a low rate; c2 is the squared coefficient of
// variation of the times between jobs. The last arrival, and so the mean rate, stays the same. Equal seeds give equal
// times. Source: BOA §6.4, Fig. 9.
func Bursty(all []workload.Arrival, c2 float64, seed uint64) error {
	if err := CheckBurstiness(c2); err != nil {
		return err
	}
	if len(all) == 0 || all[len(all)-1].At <= 0 {
		return fmt.Errorf("burstiness %v of %d jobs that come at the start, want some that come later", c2, len(all))
	}
	at := newBursts(c2).times(rng.Stream(seed, "workload/bursts"), len(all))
	last := len(all) - 1
	unit := float64(all[last].At) / at[last]
	for i := range all[:last] {
		all[i].At = time.Duration(at[i] * unit)
	}
	return nil
}

type phase struct {
	gap   float64 // mean time between its arrivals
	lasts float64 // mean of its exponential length
}

// bursts are alternating phases with a high and a low rate: a Poisson process modulated by a two-state Markov
// chain, with mean rate 1.
type bursts [2]phase

func newBursts(c2 float64) bursts {
	p := burstPart(c2)
	ratio := p / (1 - p)
	return bursts{{gap: 1 / ratio, lasts: burstJobs / ratio}, {gap: ratio, lasts: burstJobs}}
}

// burstPart returns the part p of jobs in bursts, in [0.5, 1), for a squared coefficient of variation of
//
//	c2 = 1 + 2 (p-q)^2 / (p q (1 + 1/(m q))), q = 1 - p, m = burstJobs,
//
// which is a quadratic equation in p. For long phases c2 tends to the value of two mixed exponential
// distributions, 2 (q^2/p + p^2/q) - 1. Source: Fischer and Meier-Hellstern, The MMPP cookbook (1993).
func burstPart(c2 float64) float64 {
	const m = burstJobs
	k := c2 - 1
	a, b, c := m*(8+k), 8*m+(m+1)*k, 2.0*m
	return (b + math.Sqrt(b*b-4*a*c)) / (2 * a)
}

// times draws n ascending arrival times, in units of the mean time in between, in steady state.
func (b bursts) times(r source, n int) []float64 {
	now, in := 0.0, 0
	if r.Float64()*(b[0].lasts+b[1].lasts) >= b[0].lasts {
		in = 1
	}
	end := r.ExpFloat64() * b[in].lasts
	at := make([]float64, n)
	for i := range at {
		next := now + r.ExpFloat64()*b[in].gap
		for next > end { // exponential times have no memory
			in = 1 - in
			next = end + r.ExpFloat64()*b[in].gap
			end += r.ExpFloat64() * b[in].lasts
		}
		now, at[i] = next, next
	}
	return at
}
