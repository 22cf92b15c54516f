package reclaim

import (
	"fmt"

	"github.com/oxgang/oxgang/opt/minkunion"
)

// margin is how many times over a preemption outweighs all collateral damage there can be,
// so that a bound on the sum says much about preemptions alone.
const margin = 64

// A tariff makes one number of preemptions, damage and flexible GPUs, in this order.
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

// program asks for n of the busy servers: sets, whose elements are jobs. A job costs a
// preemption and the GPUs it frees; a server gives back those that are freed on it.
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

// exact searches, from the paper's answers, for the fewest preemptions, and with the steps
// that are left for the least damage.
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

// ceil returns a/b, rounded up.
func ceil(a, b int64) int64 {
	q := a / b
	if a > q*b {
		q++
	}
	return q
}

// positions returns where in busy, which is ascending, the picked servers are.
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

// at returns the servers at these positions of busy.
func at(busy, positions []int) []int {
	servers := make([]int, len(positions))
	for i, k := range positions {
		servers[i] = busy[k]
	}
	return servers
}
