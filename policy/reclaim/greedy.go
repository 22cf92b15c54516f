package reclaim

import (
	"fmt"
	"math"
	"slices"

	"github.com/oxgang/oxgang/opt/minkunion"
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

// margin is the factor by which a preemption outweighs all possible damage, so that a bound on the sum also
// bounds preemptions.
const margin = 64

// A tariff combines preemptions, damage and flexible GPUs, in this order, into one number.
type tariff struct {
	preemption, damage int64
	most               int64 // of damage and flexible GPUs together
}

func (w *serverSet) tariff() tariff {
	base, flexible := int64(0), int64(0)
	for s := range w.servers {
		base += int64(w.used[s])
		flexible += int64(w.flexible[s])
	}
	t := tariff{damage: flexible + 1}
	t.most = t.damage*base + flexible
	t.preemption = margin * (t.most + 1)
	return t
}

// program is the choice of n busy servers: sets whose elements are jobs. A job costs a preemption and the
// GPUs it frees; a server subtracts the GPUs freed on it.
func (w *serverSet) program(busy []int, n int, t tariff) *minkunion.Problem {
	p := &minkunion.Problem{Pick: n, Sets: make([]minkunion.Set, len(busy)), Elements: make([]int64, len(w.ids))}
	for j := range w.ids {
		p.Elements[j] = t.preemption + t.damage*int64(w.total[j])
	}
	for i, s := range busy {
		p.Sets[i] = minkunion.Set{Elements: w.jobs[s], Cost: int64(w.flexible[s]) - t.damage*int64(w.used[s])}
	}
	return p
}

// exact searches from the paper's answer for the fewest preemptions, then with the remaining steps for the
// least damage.
func (w *serverSet) exact(free []int, n, steps int) (*Answer, error) {
	busy, t := w.busy(), w.tariff()
	p := w.program(busy, n, t)
	o := minkunion.Options{MaxSteps: steps, Slack: t.preemption - t.most}
	o.Start = [][]int{positions(busy, w.pick(n, w.fraction))}
	few, err := minkunion.Solve(p, o)
	if err != nil {
		return nil, fmt.Errorf("reclaim: %w", err)
	}
	best, bound := few, few.Bound
	if o.MaxSteps -= few.Steps; o.MaxSteps > 0 {
		o.Slack, o.Start = 1, [][]int{few.Sets}
		if best, err = minkunion.Solve(p, o); err != nil {
			return nil, fmt.Errorf("reclaim: %w", err)
		}
		bound = max(bound, best.Bound)
	}
	a := w.answer(append(free, at(busy, best.Sets)...))
	a.Bound = int(max(0, ceil(bound-t.most, t.preemption)))
	a.Proven, a.Steps = bound == best.Cost, few.Steps
	if best != few {
		a.Steps += best.Steps
	}
	return a, nil
}

func ceil(a, b int64) int64 {
	q := a / b
	if a > q*b {
		q++
	}
	return q
}

func positions(busy, picked []int) []int {
	where := make(map[int]int, len(busy))
	for i, s := range busy {
		where[s] = i
	}
	found := make([]int, len(picked))
	for i, s := range picked {
		found[i] = where[s]
	}
	return found
}

func at(busy, positions []int) []int {
	servers := make([]int, len(positions))
	for i, k := range positions {
		servers[i] = busy[k]
	}
	return servers
}
