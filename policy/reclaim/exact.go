package reclaim

import (
	"fmt"

	"github.com/oxgang/oxgang/opt/minkunion"
)

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
