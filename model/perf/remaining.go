// Package remaining estimates the work that a job has left, and how long it takes. Policies, the
// scheduler and predictions all use this one estimator, so that their numbers can be compared.
//
// There are three sources, the best first: what the job states (job.Spec.Target), the mean of the
// jobs of its class that have ended, and how long the job has run. Work is progress, in samples at
// the efficiency of the initial batch size; it must not be compared between jobs. Time is a
// duration, and may be compared.
package remaining

import (
	"math"
	"time"

	"github.com/oxgang/oxgang/model/job"
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
// plus, while it trains, its believed speed times the time since. It is at most the job's target.
// So a job that has not reported for a while counts as making progress. While a job restores a
// checkpoint, nothing is added.
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

// silent returns for how many seconds the job has trained since its last report. If it has made
// progress, but the time of the report is not known, the result is 0.
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

// Work returns the progress that the job must still make, and the source of the estimate. It
// returns 0 and Attained if neither the job nor its class says how much work there is. A job that
// has made more progress than the mean of its class is believed to make as much again: if sizes
// are heavy-tailed, the longer a job has run, the longer it is likely to go on.
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

// Time returns how long the job still needs at a rate of progress per second, and the source of
// the estimate. If rate is 0, or the work is not known, it returns the time for which the job has
// held GPUs so far. That guess is a duration, too, so that jobs can be ordered by Time. The result
// is at most Endless.
func (b *Basis) Time(rate float64) (time.Duration, Source) {
	left, from := b.Work()
	if from == Attained || !(rate > 0) {
		return min(Endless, b.Status.AttainedService(b.Now)), Attained
	}
	return Seconds(left / rate), from
}

// Endless is the longest time that is distinguished from others: a hundred years.
const Endless = 100 * 365 * 24 * time.Hour

// Seconds returns s seconds, at most Endless; NaN counts as Endless.
func Seconds(s float64) time.Duration {
	if !(s < Endless.Seconds()) {
		return Endless
	}
	return time.Duration(max(0, s) * float64(time.Second))
}
