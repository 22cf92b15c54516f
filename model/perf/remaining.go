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

// An Isolated states how long a job would take alone on its fair share of one GPU type.
type Isolated struct {
	GPUs int           // N_g: GPUs of the type in the whole cluster
	JCT  time.Duration // T_f: completion time on FairShare(N_g, N_avg) GPUs; at most 0: the job cannot run there
}

// FairShare returns a job's fair share of gpus GPUs: gpus / contention. contention is the average number of jobs that
// compete, including the job itself; it is at least 1. Source: Sia §3.5.5.
func FairShare(gpus int, contention float64) float64 {
	return float64(gpus) / math.Max(1, contention)
}

// Rho returns the finish-time fairness of a job with completion time jct: the mean of jct / Isolated.JCT over GPU
// types, weighted by their GPUs. If it is above 1, the job would have finished sooner alone on its fair share. It
// returns 0 and false if the job can run on no type.
//
// Deviation: types on which the job cannot run are left out of the mean, because their ratio has no value. Source: Sia
// §3.5.5, Eq. 3.6.
func Rho(jct time.Duration, isolated []Isolated) (rho float64, ok bool) {
	total := 0
	for _, i := range isolated {
		if i.JCT <= 0 || i.GPUs <= 0 {
			continue
		}
		rho += float64(i.GPUs) * (float64(jct) / float64(i.JCT))
		total += i.GPUs
	}
	if total == 0 {
		return 0, false
	}
	return rho / float64(total), true
}

// WorstRho returns the largest finish-time fairness; 0 without values. Source: Sia §3.5.5.
func WorstRho(rhos []float64) float64 {
	worst := 0.0
	for _, r := range rhos {
		worst = math.Max(worst, r)
	}
	return worst
}

// UnfairFraction returns the fraction of jobs whose finish-time fairness exceeds threshold, or 0 without jobs. The
// papers use 1, and Shockwave's plots 1.1. Sources: Sia §3.5.5; Shockwave §8.2.
func UnfairFraction(rhos []float64, threshold float64) float64 {
	if len(rhos) == 0 {
		return 0
	}
	unfair := 0
	for _, r := range rhos {
		if r > threshold {
			unfair++
		}
	}
	return float64(unfair) / float64(len(rhos))
}

// A Life has the times from which finish-time fairness is estimated, with the letters of Shockwave App. G.2.
type Life struct {
	Attained  time.Duration // time on its requested GPUs, L
	Waited    time.Duration // time spent waiting for its requested GPUs, W
	Remaining time.Duration // remaining time if it runs alone on these GPUs, R
	Total     time.Duration // time from start to end if it runs alone on these GPUs, P
}

// Estimate returns the finish-time fairness expected at the end of the job: (Attained + Waited + Remaining·N) /
// (Total·N). N is contention, the jobs per GPU over the job's life, at least 1. It returns 1 if Total is not
// positive. Source: Shockwave §6.2, App. G.2, Eq. 9.
func (l Life) Estimate(contention float64) float64 {
	if l.Total <= 0 {
		return 1
	}
	n := math.Max(1, contention)
	return (float64(l.Attained+l.Waited) + float64(l.Remaining)*n) / (float64(l.Total) * n)
}

// MakespanBound returns a lower bound on the time until all jobs end. Job i still runs for left[i] on size[i] of the
// cluster's gpus GPUs. The bound is the larger of two times: the longest left[i], and the sum of left[i]·size[i]
// divided by gpus (at least 1). Source: Shockwave App. G.2, Eq. 10.
//
// Deviation: the remaining time of a job is multiplied by its GPUs, because jobs of several GPUs fill the cluster
// sooner. For jobs with one GPU it is Eq. 10.
func MakespanBound(left []time.Duration, size []int, gpus int) time.Duration {
	longest, area := time.Duration(0), 0.0
	for i, d := range left {
		longest = max(longest, d)
		area += float64(d) * float64(size[i])
	}
	return max(longest, time.Duration(area/float64(max(1, gpus))))
}
