package gavel

import (
	"math"

	"github.com/oxgang/oxgang/policy"
)

// A slot is a place in the order in which a machine of a GPU type serves jobs, counted from the
// end: a job with k others behind it delays those k and itself.
type slot struct{ t, machine, fromLast int }

// allox matches jobs to places on machines so that the sum of their completion times is least;
// the first on each machine run, all of the time, until they are done. A machine is a GPU. A
// gang is in the order of one machine, but has all its GPUs while it runs. Of the jobs that do
// not run until they are done only those that came first are matched: a part Alpha of them, or
// as many as there are GPUs free. Source: AlloX, as in Gavel's public code.
//
// Deviation: AlloX has jobs of one GPU; a gang's time counts once for each of its
// GPUs, because it delays as many machines.
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

// unmatched returns the jobs that do not run until they are done, without
// fractions, and the GPUs that the others leave free.
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

// slotsFor returns as many places as jobs may need, last ones first: a machine of
// a type never needs more than its part of the jobs.
func slotsFor(free []int, jobs int) []slot {
	var slots []slot
	for t, n := range free {
		for i := range min(n, 1) * (jobs + n - 1) {
			slots = append(slots, slot{t, i % n, i / n})
		}
	}
	return slots
}

// costs returns what a job adds to the sum of completion times in each place.
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

// start gives all of the time to the jobs that are first on their machines, as
// long as there are GPUs. A gang for which there are too few starts when there are
// enough: until then no other job starts on its type for good, or it never would.
// (Public code: it counts as started, and takes turns with the others.)
func (p *Policy) start(jobs []*account, columns []int, slots []slot, free []int) {
	behind := make(map[slot]int) // on a machine
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

// begin gives a job a type and returns the machines it takes. Shockwave's copy of
// Gavel's code gives a gang its part of the time, so that it never counts as
// running.
func (p *Policy) begin(a *account, t int) int {
	a.x[t] = 1
	if p.o.Rules == PublicCode {
		a.x[t] = 1 / a.size[t]
		return 1
	}
	return int(a.size[t])
}
