package oxgang

import "math"

const (
	trusted = 3    // jobs that count as if they had stated their size right, beside those that ended
	spread  = 1.5  // deviation of the log of work within a class, as if of so many jobs
	exact   = 1e-4 // variance of a statement below which it is taken for true
)

// A track is how wrong statements of work were: log(work / stated) of jobs that ended.
type track struct{ jobs, squares float64 }

// add counts a job. Squares are multiples of 2⁻²⁰, which add up to the same in any order.
func (t *track) add(wrong float64) {
	t.jobs++
	t.squares += math.Round(wrong*wrong*(1<<20)) / (1 << 20)
}

// variance returns that of log(work / stated), if it is likely to be prior.
func (t *track) variance(prior float64) float64 {
	return (trusted*prior + t.squares) / (trusted + t.jobs)
}

// wrong returns log(work / stated) of a job that is gone: 0 if its work may have been what it
// stated, because it ended between two rounds.
func (st *state) wrong() float64 {
	switch most := st.done + st.soon; {
	case st.done > st.stated:
		return math.Log(st.done / st.stated)
	case st.stated > most:
		return math.Log(most / st.stated)
	}
	return 0
}

// noise returns the variance of log(work / stated) of a job: what jobs of its class were wrong by, where
// few of them have ended what all were, and what it is wrong by itself, if it has outlived
// what it stated.
func (p *Policy) noise(st *state) float64 {
	noise := p.stated.variance(0)
	if c := p.classes[st.class]; c != nil {
		noise = c.stated.variance(noise)
	}
	if st.done > st.stated {
		own := math.Log(st.done / st.stated)
		noise = max(noise, own*own)
	}
	return noise
}

// believed returns the work that a job has left that states so much. If statements were true so
// far, that is what is left of it. Else the log of its work is taken for normal: its mean is that of
// its class and that which it states, each by its precision, and what is left is the mean of work − done,
// given work > done. So who outlives what he states has more and more left.
func (p *Policy) believed(st *state, left float64) float64 {
	noise := p.noise(st)
	if noise < exact {
		return left
	}
	mean, variance := math.Log(st.stated), noise
	if c := p.classes[st.class]; c != nil && c.jobs > 0 {
		m, prior := c.logs()
		variance = 1 / (1/noise + 1/prior)
		mean = variance * (mean/noise + m/prior)
	}
	return excess(mean, math.Sqrt(variance), st.done)
}

// excess returns E[X − d | X > d], where log X is normal with a mean and a deviation.
func excess(mean, deviation, d float64) float64 {
	all := math.Exp(mean + deviation*deviation/2)
	if !(d > 0) {
		return all
	}
	z := (math.Log(d) - mean) / deviation
	if z > 6 { // both tails are close to 0; there the excess is d · deviation / z
		return d * deviation / z
	}
	return max(0, all*tail(z-deviation)/tail(z)-d)
}

// tail returns the chance that a standard normal number is above z.
func tail(z float64) float64 { return math.Erfc(z/math.Sqrt2) / 2 }
