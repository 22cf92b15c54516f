package perf

import (
	"math"
	"time"

	"github.com/oxgang/oxgang/model/job"
)

// A WorkSource states how the remaining work of a job was estimated.
type WorkSource uint8

// The sources, the worst first.
const (
	FromAttained WorkSource = iota // the time that the job has run
	FromClass                      // the mean of ended jobs of its class
	FromStated                     // the target that the job states
)

// A Remaining has the data from which a job's remaining work and time are estimated.
//
// The sources, best first, are the job's target (job.Spec.Target), the mean of ended jobs of its class, and its past
// running time. Work is progress, in samples at the efficiency of the initial batch size. To compare jobs, use Time.
type Remaining struct {
	Spec   *job.Spec
	Status *job.Status
	Now    time.Time
	Held   float64 // estimated progress per second on the GPUs that the job holds; 0: unknown
	Mean   float64 // mean progress of ended jobs of its class; 0: unknown
}

// Progress returns the job's present progress, at most its target. It is the last report plus, while the job trains,
// its estimated speed times the time since that report.
func (b *Remaining) Progress() float64 {
	done := b.Status.Progress
	if since := b.silent(); since > 0 && b.Held > 0 && !math.IsInf(b.Held, 1) {
		done += b.Held * since
	}
	if b.Spec.Target > 0 {
		return min(done, max(b.Spec.Target, b.Status.Progress))
	}
	return done
}

func (b *Remaining) silent() float64 {
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

// Work returns the progress that the job still has to make, and how it was estimated. It returns 0 and FromAttained if
// unknown. A job that has exceeded the mean of its class is assumed to be half done, because job sizes are
// heavy-tailed.
func (b *Remaining) Work() (left float64, from WorkSource) {
	done := b.Progress()
	switch {
	case b.Spec.Target > 0:
		return max(0, b.Spec.Target-done), FromStated
	case b.Mean > 0 && done < b.Mean:
		return b.Mean - done, FromClass
	case b.Mean > 0:
		return done, FromClass
	}
	return 0, FromAttained
}

// Time returns how long the job still needs if it makes rate units of progress per second, and how this was estimated.
// The result is at most Endless. If rate is 0 or the work is unknown, it returns how long the job has held GPUs.
func (b *Remaining) Time(rate float64) (time.Duration, WorkSource) {
	left, from := b.Work()
	if from == FromAttained || !(rate > 0) {
		return min(Endless, b.Status.AttainedService(b.Now)), FromAttained
	}
	return Seconds(left / rate), from
}

// Endless is the longest estimated duration: 100 years.
const Endless = 100 * 365 * 24 * time.Hour

// Seconds converts a number of seconds into a duration, at most Endless; NaN becomes Endless.
func Seconds(s float64) time.Duration {
	if !(s < Endless.Seconds()) {
		return Endless
	}
	return time.Duration(max(0, s) * float64(time.Second))
}
