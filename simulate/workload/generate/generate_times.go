package generate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/simulate/workload"
)

type source interface {
	Float64() float64
	ExpFloat64() float64
	IntN(n int) int
}

// A pace has repeating relative rates of equal steps. Scripted jobs come shortly after the one before.
type pace struct {
	step     time.Duration
	rates    []float64
	scripted float64
}

// scriptGap is the mean time in a script. It makes 13 % of the gaps of newTrace shorter than 10 s, as in the
// shared trace, instead of 6 %.
const scriptGap = 10 * time.Second

// Hourly means of the shared Sia traces, in jobs per hour (6 of Philly, 7 of Helios, 7 of newTrace). The
// traces of a family are samples of one window, so their hours vary less than in a Poisson process.
var (
	phillyPace = pace{step: time.Hour, rates: []float64{18.3, 17.8, 11.7, 17.8, 27.2, 35.5, 17.2, 14.5}}
	heliosPace = pace{step: time.Hour, rates: []float64{21.1, 13.9, 30.7, 38.1, 23.3, 15.9, 9.7, 7.3}, scripted: 0.02}

	newTracePace = pace{step: time.Hour, scripted: 0.11, rates: []float64{
		17.4, 18.1, 21.6, 16.1, 21.4, 35.3, 35.3, 43.6, 26.4, 24.7, 32.1, 25.0,
		10.7, 18.3, 13.9, 21.4, 8.7, 8.6, 32.9, 7.9, 11.0, 16.6, 21.4, 19.7,
		48.1, 20.1, 9.9, 7.6, 7.4, 24.6, 21.3, 26.0, 24.3, 21.9, 15.4, 26.7,
		19.7, 18.0, 20.7, 14.9, 32.9, 9.3, 20.3, 10.6, 18.4, 20.4, 7.9, 5.6,
	}}
)

// spikePace is the pace of Spike-240, which is not public: 240 jobs in 6 hours with a burst in 30 minutes
// from hour 2.5. With newTrace's 20 jobs/h otherwise, jobs 50 to 179 are in the burst. This fits the thesis,
// in which jobs 165 and 180 belong to it and jobs 60 to 200 meet congestion. Source: Sia §3.5.6.
var spikePace = pace{step: 30 * time.Minute, rates: []float64{10, 10, 10, 10, 10, 130, 10, 10, 10, 10, 10, 10}}

func (p *pace) times(r source, n int, span time.Duration) []time.Duration {
	ends := p.cumulative(span)
	at := make([]time.Duration, n)
	for i := range at {
		t := span
		if i > 0 && r.Float64() < p.scripted {
			t = at[i-1] + time.Duration(r.ExpFloat64()*float64(scriptGap))
		}
		if t >= span {
			t = p.invert(ends, r.Float64(), span)
		}
		at[i] = t.Truncate(time.Millisecond)
	}
	slices.Sort(at)
	return at
}

func (p *pace) cumulative(span time.Duration) []float64 {
	var ends []float64
	total := 0.0
	for begin := time.Duration(0); begin < span; begin += p.step {
		length := min(p.step, span-begin)
		total += p.rates[len(ends)%len(p.rates)] * length.Seconds()
		ends = append(ends, total)
	}
	for i := range ends {
		ends[i] /= total
	}
	return ends
}

func (p *pace) invert(ends []float64, u float64, span time.Duration) time.Duration {
	if len(ends) == 0 {
		return 0
	}
	i := min(sort.SearchFloat64s(ends, u), len(ends)-1)
	before := 0.0
	if i > 0 {
		before = ends[i-1]
	}
	begin := time.Duration(i) * p.step
	length := min(p.step, span-begin)
	return begin + time.Duration((u-before)/(ends[i]-before)*float64(length))
}

// Shuffle returns the jobs of a trace in another order: it divides time into blocks of equal length and shuffles these.
// So only which jobs coincide changes, and the spread of results over orders shows how much they depend on it. arrivals
// must be sorted by time, and are not modified. Equal seeds give equal orders.
func Shuffle(arrivals []workload.Arrival, blocks int, seed uint64) []workload.Arrival {
	if len(arrivals) == 0 || blocks < 1 {
		return nil
	}
	length := arrivals[len(arrivals)-1].At/time.Duration(blocks) + 1
	all := make([]workload.Arrival, 0, len(arrivals))
	for to, from := range rng.Stream(seed, "workload/shuffle").Perm(blocks) {
		begin := time.Duration(from) * length
		for _, a := range cameBetween(arrivals, begin, begin+length) {
			a.At += time.Duration(to)*length - begin
			all = append(all, a)
		}
	}
	return all
}

func cameBetween(all []workload.Arrival, from, to time.Duration) []workload.Arrival {
	at := func(t time.Duration) int {
		i, _ := slices.BinarySearchFunc(all, t, func(a workload.Arrival, t time.Duration) int { return cmp.Compare(a.At, t) })
		return i
	}
	return all[at(from):at(to)]
}

// burstJobs is the mean number of jobs in a burst: 45 minutes at twice the rate of newTrace. BOA gives none.
const burstJobs = 30

const mostBursty = 2 * burstJobs

// CheckBurstiness returns an error if Bursty does not accept the squared coefficient of variation c2.
func CheckBurstiness(c2 float64) error {
	if !(c2 >= 1 && c2 <= mostBursty) { // rejects NaN, too
		return fmt.Errorf("burstiness %v, want 1 (Poisson) to %d", c2, mostBursty)
	}
	return nil
}

// Bursty replaces the submission times of all jobs, which must be sorted, so that jobs arrive in bursts: a Poisson
// process that alternates between a high and a low rate. c2 is the squared coefficient of variation of the times
// between jobs. The last arrival stays the same. Equal seeds give equal times. Source: BOA §6.4, Fig. 9.
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
