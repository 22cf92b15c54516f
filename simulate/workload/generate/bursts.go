package generate

import (
	"fmt"
	"math"
	"time"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/simulate/workload"
)

// burstJobs is the mean number of jobs in a burst: at the 20 jobs/h of newTrace, a
// burst of twice the rate lasts 45 minutes. BOA does not say its own.
const burstJobs = 30

// mostBursty bounds the burstiness. It would be 1 + 2 burstJobs if bursts took no time and no
// job arrived between them.
const mostBursty = 2 * burstJobs

// CheckBurstiness returns an error unless Bursty can draw times between arrivals of
// this squared coefficient of variation.
func CheckBurstiness(c2 float64) error {
	if !(c2 >= 1 && c2 <= mostBursty) { // not a number fails too
		return fmt.Errorf("burstiness %v, want 1 (Poisson) to %d", c2, mostBursty)
	}
	return nil
}

// Bursty draws new times for sorted arrivals, in place and in their order. They follow a
// Poisson process whose rate alternates between a high and a low one, such that the
// squared coefficient of variation of the times between arrivals is c2. The time of the
// last arrival does not change, and so neither does the mean rate. Equal seeds give equal times.
// It returns an error if all arrivals come at the start, or if CheckBurstiness does.
// Source: BOA §6.4, Fig. 9.
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

// A phase is a time of one rate. Times are in mean times between arrivals.
type phase struct {
	gap   float64 // mean time between arrivals in it
	lasts float64 // its mean length, which is exponential
}

// bursts are a high and a low phase that alternate: a Poisson process modulated by a
// Markov chain of two states, at rate 1 in the mean.
type bursts [2]phase

// newBursts returns the process of a burstiness. A part p of the jobs comes in bursts,
// which take the part 1 - p of the time.
func newBursts(c2 float64) bursts {
	p := burstPart(c2)
	ratio := p / (1 - p)
	return bursts{{gap: 1 / ratio, lasts: burstJobs / ratio}, {gap: ratio, lasts: burstJobs}}
}

// burstPart returns the part p of the jobs that comes in bursts, in [0.5, 1), for a
// squared coefficient of variation of the times between arrivals of
//
//	c2 = 1 + 2 (p-q)^2 / (p q (1 + 1/(m q))), q = 1 - p, m = burstJobs,
//
// which is a quadratic equation of p. For long phases c2 tends to that of two
// exponential distributions mixed, 2 (q^2/p + p^2/q) - 1.
// Source: Fischer and Meier-Hellstern, The MMPP cookbook (1993).
func burstPart(c2 float64) float64 {
	const m = burstJobs
	k := c2 - 1
	a, b, c := m*(8+k), 8*m+(m+1)*k, 2.0*m
	return (b + math.Sqrt(b*b-4*a*c)) / (2 * a)
}

// times draws n arrival times, ascending, from 0 in mean times between arrivals. The
// process is in steady state.
func (b bursts) times(r source, n int) []float64 {
	now, in := 0.0, 0
	if r.Float64()*(b[0].lasts+b[1].lasts) >= b[0].lasts {
		in = 1
	}
	end := r.ExpFloat64() * b[in].lasts
	at := make([]float64, n)
	for i := range at {
		next := now + r.ExpFloat64()*b[in].gap
		for next > end { // what is drawn has no memory
			in = 1 - in
			next = end + r.ExpFloat64()*b[in].gap
			end += r.ExpFloat64() * b[in].lasts
		}
		now, at[i] = next, next
	}
	return at
}
