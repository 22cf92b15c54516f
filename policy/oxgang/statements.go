package oxgang

import "math"

const (
	trusted = 3    // prior: number of jobs assumed to have stated their size exactly
	spread  = 1.5  // prior deviation of the log of work within a class
	exact   = 1e-4 // variance of statements below which they count as exact
)

// A track sums up the errors of stated work: log(work / stated) of ended jobs.
type track struct{ jobs, squares float64 }

func (t *track) add(wrong float64) {
	t.jobs++
	t.squares += math.Round(wrong*wrong*(1<<20)) / (1 << 20)
}

func (t *track) variance(prior float64) float64 {
	return (trusted*prior + t.squares) / (trusted + t.jobs)
}

// wrong returns log(work / stated) of an ended job. It is 0 if the stated work may be exact, because the job ended
// between two rounds.
func (st *state) wrong() float64 {
	switch most := st.done + st.soon; {
	case st.done > st.stated:
		return math.Log(st.done / st.stated)
	case st.stated > most:
		return math.Log(most / st.stated)
	}
	return 0
}

// noise returns the variance of log(work / stated) of a job: of its class, with all jobs as the prior, and at least
// the job's own square error once it has outlived its statement.
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

// believed returns the work left of a job that states its size. If statements were exact so far, it is the stated
// rest. Otherwise the log of the job's work is modelled as normal. Its mean combines the class and the statement,
// each weighted by its precision. The result is the mean of work − done, given work > done. So a job that outlives
// its statement has more and more left.
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

func tail(z float64) float64 { return math.Erfc(z/math.Sqrt2) / 2 }
