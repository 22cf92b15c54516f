// This file computes a lower bound of the mean completion time of a trace on a cluster: no
// policy, however clever, can be better. What a policy gains beside another can be compared with
// what there is to be gained.
//
// # The relaxation
//
// A job j arrives at r_j. Trained as fast as it can be on this cluster it takes p_j seconds. Count
// its progress in these seconds: at any time it makes at most one per second. Let M_j be the mean
// time at which its progress is made, its mean busy time. Whatever the schedule, its completion
// time is
//
//	C_j >= M_j + p_j/2
//
// with equality if it runs at full speed without a break at the end. On GPUs of type k a
// second of progress takes at least a_jk GPU-seconds, as speeds grow at most in proportion to GPUs.
// So a lower bound of the sum of the C_j is the least sum of M_j + p_j/2 over all
// ways x_jki of making progress in intervals i of time, such that
//
//	sum_ki x_jki          = p_j       each job is completed
//	sum_k  x_jki         <= length_i  it makes at most a second per second, from r_j on
//	sum_j  a_jk x_jki    <= GPUs_k length_i
//
// In this relaxation a job may be on any part of GPUs of several types, moves are free,
// CPUs, memory and nodes do not count, and all arrivals are known. Only the first start of each
// job takes time.
//
// # Solving it
//
// The dual is solved: prices of the GPUs of each type and interval. At given prices each job takes
// the cheapest intervals for itself, and the sum of what they pay, less the prices times
// the capacities, is a lower bound by itself. So the result is valid wherever the ascent stops. The prices
// follow the subgradient, demand less capacity, with the step of Polyak towards a known mean.
// After the last interval capacity is not limited.
//
// Source: the mean busy time relaxation of Goemans, Queyranne, Schulz, Skutella and Wang, "Single
// machine scheduling with release dates" (2002), on unrelated types of machines.

package statistics

import (
	"math"
	"slices"
)

// A Task is one job of a trace. Times are seconds.
type Task struct {
	Ready   float64 // when it can train: its arrival and its first start
	Fastest float64 // alone on what suits it best
	// GPUSeconds is the least GPU time that it takes on each type, in the order of the types; 0: it does not run there.
	GPUSeconds []float64
}

// intervals of time that prices are for, and steps of the ascent.
const (
	intervals = 600
	steps     = 200
)

// LowerBound returns a lower bound of the mean over jobs of completion less readiness, in seconds. gpus
// are the GPUs of each type. known is the mean of some schedule, towards which the ascent steps; it
// changes how good the bound is, not whether it is one. It returns 0 without jobs.
//
// Complexity: O(steps j i (60 + k)) for j jobs, i intervals and k types.
func LowerBound(jobs []Task, gpus []float64, known float64) float64 {
	if len(jobs) == 0 {
		return 0
	}
	a := newAscent(jobs, gpus)
	best, target := 0.0, known*float64(len(jobs))
	scale, since := 1.0, 0
	for range steps {
		value, norm := a.evaluate()
		if value > best {
			best, since = value, 0
		} else if since++; since >= 20 {
			scale, since = scale/2, 0
		}
		if norm == 0 || target <= value {
			break
		}
		a.step(scale * (target - value) / norm)
	}
	return best / float64(len(jobs))
}

// An ascent is the state of the prices.
type ascent struct {
	jobs   []Task
	cap    []float64   // GPU-seconds of each type in an interval
	length float64     // of an interval
	prices [][]float64 // [type][interval], a GPU-second
	excess [][]float64 // demand less capacity, likewise
	cost   []float64   // of the present job, by interval
	on     []int       // type on which it costs that; -1: none
}

func newAscent(jobs []Task, gpus []float64) *ascent {
	last, work, most := 0.0, 0.0, 0.0
	for _, j := range jobs {
		last, most = max(last, j.Ready), max(most, j.Fastest)
		least := math.Inf(1)
		for _, g := range j.GPUSeconds {
			if g > 0 {
				least = min(least, g)
			}
		}
		work += least
	}
	total := 0.0
	for _, g := range gpus {
		total += g
	}
	a := &ascent{jobs: jobs, length: (last + 2*work/total + most) / intervals}
	for _, g := range gpus {
		a.cap = append(a.cap, g*a.length)
		a.prices, a.excess = append(a.prices, make([]float64, intervals)), append(a.excess, make([]float64, intervals))
	}
	a.cost, a.on = make([]float64, intervals), make([]int, intervals)
	return a
}

// evaluate lets each job choose, and returns the value of the dual and the squared norm of its
// subgradient, in which prices of 0 do not fall.
func (a *ascent) evaluate() (value, norm float64) {
	for k := range a.excess {
		for i := range a.excess[k] {
			a.excess[k][i] = -a.cap[k]
			value -= a.prices[k][i] * a.cap[k]
		}
	}
	for i := range a.jobs {
		value += a.choose(&a.jobs[i])
	}
	for k := range a.excess {
		for i, g := range a.excess[k] {
			if a.prices[k][i] > 0 || g > 0 {
				norm += g * g
			}
		}
	}
	return value, norm
}

// choose lets a job make its progress where that is cheapest, and returns what it costs: its mean
// busy time and half its length, less its readiness, and the prices.
//
// x seconds of progress in an interval that begins at b have their middle at b + x/2 at the
// earliest, so they cost x (b + x/2) / p and x times the price. The sum is least where all marginal
// costs (b + x)/p + price are the same, except in intervals that are full or not used. That
// common cost is found by bisection.
func (a *ascent) choose(j *Task) float64 {
	if !a.costs(j) {
		return 0 // it runs nowhere
	}
	low, high := slices.Min(a.cost), (intervals*a.length+j.Fastest)/j.Fastest
	for range 60 {
		mid := (low + high) / 2
		if a.progress(j, mid) < j.Fastest {
			low = mid
		} else {
			high = mid
		}
	}
	left, cost := j.Fastest, j.Fastest/2-j.Ready
	for i, c := range a.cost {
		x := min(left, a.taken(j, i, high))
		if x <= 0 {
			continue
		}
		left -= x
		cost += x * (c + x/2/j.Fastest)
		k := a.on[i]
		a.excess[k][i] += x * j.GPUSeconds[k] / j.Fastest
	}
	end := intervals * a.length
	return cost + left*(end+left/2)/j.Fastest
}

// costs computes what the first bit of progress costs in each interval, and on which type; false if
// the job runs on none.
func (a *ascent) costs(j *Task) bool {
	for i := range a.cost {
		a.cost[i], a.on[i] = math.Inf(1), -1
		if float64(i+1)*a.length <= j.Ready {
			continue
		}
		for k, g := range j.GPUSeconds {
			if p := (max(j.Ready, float64(i)*a.length) + a.prices[k][i]*g) / j.Fastest; g > 0 && p < a.cost[i] {
				a.cost[i], a.on[i] = p, k
			}
		}
	}
	return slices.ContainsFunc(a.on, func(k int) bool { return k >= 0 })
}

// taken returns the progress made in an interval at a common marginal cost.
func (a *ascent) taken(j *Task, i int, marginal float64) float64 {
	if marginal <= a.cost[i] {
		return 0
	}
	length := float64(i+1)*a.length - max(j.Ready, float64(i)*a.length)
	return min(length, (marginal-a.cost[i])*j.Fastest)
}

// progress returns the progress made in all intervals at a common marginal cost, and after them.
func (a *ascent) progress(j *Task, marginal float64) float64 {
	total := max(0, marginal*j.Fastest-intervals*a.length)
	for i := range a.cost {
		total += a.taken(j, i, marginal)
	}
	return total
}

// step changes prices along the subgradient.
func (a *ascent) step(size float64) {
	for k := range a.prices {
		for i := range a.prices[k] {
			a.prices[k][i] = max(0, a.prices[k][i]+size*a.excess[k][i])
		}
	}
}
