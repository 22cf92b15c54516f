package perf

import (
	"math"
	"time"
)

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
