// Package fairness measures finish-time fairness: how a job's completion time
// in a shared cluster compares with that in a cluster of its own of fair size.
package fairness

import (
	"math"
	"time"
)

// An Isolated is what a job would see alone on its fair share of one GPU type.
type Isolated struct {
	GPUs int           // N_g: GPUs of the type in the whole cluster
	JCT  time.Duration // T_f: completion time on FairShare(N_g, N_avg) of them; not positive: it cannot run there
}

// FairShare returns N_g / N_avg: the GPUs of the isolated cluster of a job
// that competed with contention jobs on average, itself among them. Contention
// below 1 counts as 1. Source: Sia §3.5.5.
func FairShare(gpus int, contention float64) float64 {
	return float64(gpus) / math.Max(1, contention)
}

// Rho returns the finish-time-fairness ratio of a job that took jct in the
// shared cluster: the mean over GPU types of jct / T_f, weighted by the
// probability that a random GPU of the cluster is of that type. Above 1 the
// job would have finished sooner alone. It returns 0 and false if the job can
// run on none of the types.
//
// Deviation: types on which the job cannot run are left out of the mean,
// because their ratio has no value. Source: Sia §3.5.5, Eq. 3.6.
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

// Worst returns the largest ratio, 0 if there is none. Source: Sia §3.5.5.
func Worst(rhos []float64) float64 {
	worst := 0.0
	for _, r := range rhos {
		worst = math.Max(worst, r)
	}
	return worst
}

// UnfairFraction returns the fraction of ratios above a threshold, 0 if there is
// none. The papers' threshold is 1; the plots of Shockwave's have 1.1.
// Sources: Sia §3.5.5; Shockwave §8.2.
func UnfairFraction(rhos []float64, above float64) float64 {
	if len(rhos) == 0 {
		return 0
	}
	unfair := 0
	for _, r := range rhos {
		if r > above {
			unfair++
		}
	}
	return float64(unfair) / float64(len(rhos))
}

// A Life is what a job has had and has left to do with what it asks for.
type Life struct {
	Attained  time.Duration // L: it has held what it asks for
	Waited    time.Duration // W: it has waited for it
	Remaining time.Duration // R: it has left to run with it alone
	Total     time.Duration // P: it runs with it alone, from start to end
}

// Estimate returns the finish-time fairness that a job is heading for: (L + W + R·N) /
// (P·N), where there are contention (N) jobs for each GPU over its life: below 1 counts
// as 1. It returns 1 if Total is not positive. Source: Shockwave §6.2, App. G.2, Eq. 9.
func (l Life) Estimate(contention float64) float64 {
	if l.Total <= 0 {
		return 1
	}
	n := math.Max(1, contention)
	return (float64(l.Attained+l.Waited) + float64(l.Remaining)*n) / (float64(l.Total) * n)
}

// MakespanBound returns a lower bound on the time in which all jobs end: the larger of
// the longest that is left of one job, and what is left of all together, each counted
// with its GPUs (size), on so many GPUs, of which fewer than 1 count as 1. It panics if
// size is shorter than left. Source: Shockwave App. G.2, Eq. 10.
//
// Deviation: what is left of a job counts as often as it has GPUs, because jobs of
// several GPUs fill the cluster sooner; with jobs of one GPU it is Eq. 10.
func MakespanBound(left []time.Duration, size []int, gpus int) time.Duration {
	longest, area := time.Duration(0), 0.0
	for i, d := range left {
		longest = max(longest, d)
		area += float64(d) * float64(size[i])
	}
	return max(longest, time.Duration(area/float64(max(1, gpus))))
}
