// This file computes a lower bound on the mean completion time of a trace on a cluster.
//
// # The relaxation
//
// Job j arrives at r_j and takes p_j seconds at its highest speed on this cluster. Measure its progress in these
// seconds: at most one per second. Its mean busy time M_j is the mean time at which progress is made. For every
// schedule, the completion time satisfies
//
//	C_j >= M_j + p_j/2
//
// with equality if the job runs at full speed without a break at the end. On GPUs of type k, a second of progress
// takes at least a_jk GPU-seconds, because speed grows at most in proportion to GPUs. So the sum of the C_j is at
// least the minimum of the sum of M_j + p_j/2 over all progress x_jki of job j on type k in interval i with
//
//	sum_ki x_jki       =  p_j              each job is completed
//	sum_k  x_jki       <= length_i         at most a second per second, from r_j on
//	sum_j  a_jk x_jki  <= GPUs_k length_i
//
// The relaxation lets a job use fractions of GPUs of several types, moves it for free, ignores CPUs, memory and
// nodes, and knows all arrivals.
//
// # Solving it
//
// The dual has a price per GPU type and interval. At given prices, each job takes its cheapest intervals; the sum
// of their costs, less prices times capacities, is itself a lower bound. So the result is valid wherever the
// ascent stops. Prices follow the subgradient (demand less capacity) with Polyak's step towards a known mean.
// Capacity after the last interval is unlimited.
//
// Source: the mean busy time relaxation of Goemans, Queyranne, Schulz, Skutella and Wang, "Single machine
// scheduling with release dates" (2002), on unrelated types of machines.

package statistics

import (
	"math"
	"slices"
)

// A Task describes one job for LowerBound. Times are in seconds.
type Task struct {
	Ready   float64 // earliest time at which it can train: its arrival plus the time that a first start takes
	Fastest float64 // running time alone on the best GPUs
	// GPUSeconds is the GPU time of the whole job, by type; 0 if it cannot run on the type.
	GPUSeconds []float64
}

// Numbers of intervals with prices, and of steps of the ascent.
const (
	intervals = 600
	steps     = 200
)

// LowerBound returns a lower bound in seconds on the mean completion time, counted from Ready, under any schedule. It
// returns 0 without jobs. gpus is the number of GPUs by type. known is the mean under some schedule, which makes the
// bound tighter. For j jobs, i intervals and k types it takes O(steps j i (60 + k)).
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

type ascent struct {
	jobs   []Task
	cap    []float64   // GPU-seconds per type and interval
	length float64     // of an interval
	prices [][]float64 // [type][interval], per GPU-second
	excess [][]float64 // demand less capacity
	cost   []float64   // of the present job, by interval
	on     []int       // type with that cost; -1 for none
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

// evaluate lets each job choose. It returns the dual and its squared subgradient, without prices that are 0 and
// would fall.
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

// choose gives a job its cheapest progress. It returns mean busy time plus half its length, minus Ready, plus the
// prices.
//
// x seconds of progress in an interval that starts at b are centred at b + x/2 at the earliest. They cost x (b + x/2)
// / p, and x times the price. The sum is minimal if the marginal costs (b + x)/p + price are equal in all intervals
// that are neither full nor unused.
func (a *ascent) choose(j *Task) float64 {
	if !a.costs(j) {
		return 0 // it cannot run
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

func (a *ascent) taken(j *Task, i int, marginal float64) float64 {
	if marginal <= a.cost[i] {
		return 0
	}
	length := float64(i+1)*a.length - max(j.Ready, float64(i)*a.length)
	return min(length, (marginal-a.cost[i])*j.Fastest)
}

func (a *ascent) progress(j *Task, marginal float64) float64 {
	total := max(0, marginal*j.Fastest-intervals*a.length)
	for i := range a.cost {
		total += a.taken(j, i, marginal)
	}
	return total
}

func (a *ascent) step(size float64) {
	for k := range a.prices {
		for i := range a.prices[k] {
			a.prices[k][i] = max(0, a.prices[k][i]+size*a.excess[k][i])
		}
	}
}
