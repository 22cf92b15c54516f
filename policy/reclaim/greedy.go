package reclaim

import (
	"math"
	"slices"
)

func (w *serverSet) fraction(j int) float64 { return 1 / float64(len(w.on[j])) }

func (w *serverSet) one(int) float64 { return 1 }

// greedy picks n servers as the paper does: one by job count, several by server fractions. Source: Lyra §4,
// "Minimizing preemptions".
func (w *serverSet) greedy(n int) []int {
	if n == 1 {
		return w.pick(n, w.one)
	}
	return w.pick(n, w.fraction)
}

const tie = 1e-9

type selection struct {
	w         *serverSet
	each      func(j int) float64 // cost that a job adds to its servers
	cost      []float64           // of each server
	live      []int               // by server: remaining jobs
	preempted []bool
	eligible  []bool // by server: can be picked
	hits      []int  // scratch, all 0
}

// pick repeatedly picks the server of least cost and removes its jobs from all servers. Ties go to the least
// collateral damage, then to the first server. Source: Lyra §4.
func (w *serverSet) pick(n int, each func(j int) float64) []int {
	c := &selection{w: w, each: each, cost: make([]float64, len(w.servers)), live: make([]int, len(w.servers))}
	c.preempted, c.eligible, c.hits = make([]bool, len(w.ids)), make([]bool, len(w.servers)), make([]int, len(w.servers))
	for _, s := range w.busy() {
		c.eligible[s], c.live[s] = true, len(w.jobs[s])
		for _, j := range w.jobs[s] {
			c.cost[s] += each(j)
		}
	}
	var picked []int
	for len(picked) < n {
		s := c.next(n - len(picked))
		picked = append(picked, s)
		c.vacate(s)
	}
	return picked
}

func (c *selection) next(wanted int) int {
	least := math.Inf(1)
	for s, cost := range c.cost {
		if c.eligible[s] {
			least = min(least, cost)
		}
	}
	best, hurt := -1, 0
	for s, cost := range c.cost {
		if !c.eligible[s] || cost > least+tie {
			continue
		}
		if damage := c.damage(s, wanted); best < 0 || damage < hurt {
			best, hurt = s, damage
		}
	}
	return best
}

func (c *selection) vacate(s int) {
	c.eligible[s] = false
	for _, j := range c.w.jobs[s] {
		if c.preempted[j] {
			continue
		}
		c.preempted[j] = true
		for _, t := range c.w.on[j] {
			c.live[t]--
			if c.cost[t] -= c.each(j); c.live[t] == 0 {
				c.cost[t] = 0
			}
		}
	}
}

// damage returns the GPUs freed on servers that stay if server s goes next. Servers vacated along with s do
// not count if they are wanted, too.
//
// Deviation: GPUs freed elsewhere are no damage on servers that are wanted, too, because in the paper's Fig.
// 5 two jobs instead of one would be preempted otherwise.
func (c *selection) damage(s, wanted int) int {
	freed := -c.w.used[s]
	for _, j := range c.w.jobs[s] {
		if !c.preempted[j] {
			freed += c.w.total[j]
		}
	}
	vacated := c.vacated(s)
	slices.SortFunc(vacated, func(a, b int) int { return b - a })
	for _, gpus := range vacated[:min(wanted-1, len(vacated))] {
		freed -= gpus
	}
	return freed
}

func (c *selection) vacated(s int) []int {
	var met, vacated []int
	for _, j := range c.w.jobs[s] {
		for _, t := range c.w.on[j] {
			if t == s || c.preempted[j] || !c.eligible[t] {
				continue
			}
			met = append(met, t)
			if c.hits[t]++; c.hits[t] == c.live[t] {
				vacated = append(vacated, c.w.used[t])
			}
		}
	}
	for _, t := range met {
		c.hits[t] = 0
	}
	return vacated
}
