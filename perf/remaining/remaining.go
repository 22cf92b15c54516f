// Package remaining estimates the work that a job has left, and how long it takes. It is the
// one estimator that the policies, the scheduler and the simulation of what is to come ask, so
// that no two of them compare different things.
//
// Three sources are told apart, the best first: what the job states (job.Spec.Target), the
// mean of the jobs of its class that ended, and how long it has run. Work is progress, in
// samples at the efficiency of the initial batch size, and never compared between jobs; time
// is a duration, which may be.
package remaining

import (
	"math"
	"time"

	"github.com/oxgang/oxgang/job"
)

// A Source says what an estimate rests on.
type Source uint8

// The sources, the worst first.
const (
	Attained Source = iota // how long the job has run
	Class                  // the mean of the jobs of its class that ended
	Stated                 // the target that the job states
)

// A Basis is what is known of one job at one time.
type Basis struct {
	Spec   *job.Spec
	Status *job.Status
	Now    time.Time
	Held   float64 // believed progress a second on what the job holds; 0: not known
	Mean   float64 // mean progress at which jobs of its class ended; 0: not known
}

// Progress returns the progress that the job is believed to have made: what it last reported
// and, while it trains, what its believed speed has added since; no more than its target.
// So a job that never reports, or has not reported for a while, is not taken to have stood
// still. While a job restores, nothing is added.
func (b *Basis) Progress() float64 {
	done := b.Status.Progress
	if since := b.silent(); since > 0 && b.Held > 0 && !math.IsInf(b.Held, 1) {
		done += b.Held * since
	}
	if b.Spec.Target > 0 {
		return min(done, max(b.Spec.Target, b.Status.Progress))
	}
	return done
}

// silent returns for how many seconds the job trains of which it has not reported. One that has
// made progress, and of which it is not known when it said so, is taken to have said so now.
func (b *Basis) silent() float64 {
	st := b.Status
	if st.Phase != job.Running || !st.Holding() {
		return 0
	}
	from := st.Since
	switch {
	case st.Reported.After(from):
		from = st.Reported
	case from.IsZero(), st.Reported.IsZero() && st.Progress > 0:
		return 0
	}
	return b.Now.Sub(from).Seconds()
}

// Work returns the progress that the job lacks, and what that rests on; 0 and Attained if
// neither the job nor its class says how much there is to do. A job that has made more than
// the mean of its class is believed to make as much again: where sizes are heavy-tailed, the
// longer a job has run, the longer it is likely to go on.
func (b *Basis) Work() (left float64, from Source) {
	done := b.Progress()
	switch {
	case b.Spec.Target > 0:
		return max(0, b.Spec.Target-done), Stated
	case b.Mean > 0 && done < b.Mean:
		return b.Mean - done, Class
	case b.Mean > 0:
		return done, Class
	}
	return 0, Attained
}

// Time returns how long the job needs at a rate of progress a second, and what that rests on.
// Without a rate, or with nothing known of the work, it is as long again as the job has held
// GPUs: a guess in the same unit, time, so that an order of jobs by it is an order by one
// thing. It is at most Endless.
func (b *Basis) Time(rate float64) (time.Duration, Source) {
	left, from := b.Work()
	if from == Attained || !(rate > 0) {
		return min(Endless, b.Status.AttainedService(b.Now)), Attained
	}
	return Seconds(left / rate), from
}

// Endless is the longest time that is told from others: a hundred years.
const Endless = 100 * 365 * 24 * time.Hour

// Seconds returns so many seconds, at most Endless; NaN is Endless.
func Seconds(s float64) time.Duration {
	if !(s < Endless.Seconds()) {
		return Endless
	}
	return time.Duration(max(0, s) * float64(time.Second))
}
