package gavel

import (
	"math"

	"github.com/oxgang/oxgang/policy"
)

// A slot is a place in a machine's order of jobs, from the end. A job with k jobs behind it delays these and
// itself.
type slot struct{ t, machine, fromLast int }

// allox matches jobs to places on GPUs so that the sum of completion times is least. A job runs until it is done.
// A gang is in the order of one GPU, but uses several. Only a fraction Alpha of the waiting jobs is matched, or
// one per free GPU if more. Source: AlloX, as in Gavel's public code.
//
// Deviation: a gang's time counts once for each of its GPUs, because it delays as many machines; AlloX has jobs of
// one GPU.
func (p *Policy) allox(s *policy.Snapshot) {
	waiting, free := p.unmatched()
	machines := 0
	for _, n := range free {
		machines += n
	}
	count := min(len(waiting), max(int(p.o.Alpha*float64(len(waiting))), machines))
	waiting = waiting[:count]
	p.outcome.iterations = count
	if count == 0 || machines == 0 {
		return
	}
	slots := slotsFor(free, count)
	cost := make([][]float64, count)
	for i, a := range waiting {
		cost[i] = p.costs(a, slots, s)
	}
	columns, _ := assign(cost)
	p.start(waiting, columns, slots, free)
}

func (p *Policy) unmatched() (waiting []*account, free []int) {
	free = append(free, p.free...)
	for _, a := range p.active {
		kept := false
		for t, x := range a.x {
			if a.size[t] > 0 && (x == 1 || p.o.Rules == Paper && x > 0) {
				kept = true
				free[t] -= int(a.size[t])
			}
		}
		if !kept {
			clear(a.x)
			waiting = append(waiting, a)
		}
	}
	for t := range free {
		free[t] = max(0, free[t])
	}
	return waiting, free
}

func slotsFor(free []int, jobs int) []slot {
	var slots []slot
	for t, n := range free {
		for i := range min(n, 1) * (jobs + n - 1) {
			slots = append(slots, slot{t, i % n, i / n})
		}
	}
	return slots
}

func (p *Policy) costs(a *account, slots []slot, s *policy.Snapshot) []float64 {
	cost := make([]float64, len(slots))
	age := a.row.Age(s.Now).Seconds()
	for c, at := range slots {
		if cost[c] = math.Inf(1); a.size[at.t] > 0 {
			weight := a.size[at.t]
			if p.o.Rules == PublicCode {
				weight = 1
			}
			cost[c] = weight*float64(at.fromLast+1)*a.left()/a.rate[at.t] + age
		}
	}
	return cost
}

// start gives the full time to the first job on each machine. A larger gang keeps other jobs from starting on its
// type, or it never would. (Public code: it takes turns with the others.)
func (p *Policy) start(jobs []*account, columns []int, slots []slot, free []int) {
	behind := make(map[slot]int)
	for _, c := range columns {
		if c >= 0 {
			at := slots[c]
			on := slot{t: at.t, machine: at.machine}
			behind[on] = max(behind[on], at.fromLast)
		}
	}
	for i, c := range columns {
		if c < 0 || free[slots[c].t] <= 0 {
			continue
		}
		at := slots[c]
		switch first := at.fromLast == behind[slot{t: at.t, machine: at.machine}]; {
		case !first:
		case p.o.Rules == Paper && float64(free[at.t]) < jobs[i].size[at.t]:
			free[at.t] = 0
		default:
			free[at.t] -= p.begin(jobs[i], at.t)
		}
	}
}

func (p *Policy) begin(a *account, t int) int {
	a.x[t] = 1
	if p.o.Rules == PublicCode {
		a.x[t] = 1 / a.size[t]
		return 1
	}
	return int(a.size[t])
}
