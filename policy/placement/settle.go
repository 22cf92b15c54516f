package placement

import (
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
)

// A Job is the decision of a plan about one job, with the amounts of CPUs and memory that the job could get.
type Job struct {
	// Cells are the amounts of CPUs and memory per GPU that the job may get, ascending. There are none if the job has
	// no GPUs or is Fixed.
	Cells []Cell
	// Wish is the index of the largest cell that needs at most the CPUs and memory of the plan: Synergy's demand
	// vector.
	Wish int
	// Slots are the job's GPUs, set by the placer. Each node occurs once.
	Slots []Slot
	// Fixed is the placement of a job that must stay unchanged.
	Fixed cluster.Placement
	// Cell is the index of the cell that Settle chose; -1 if there is no room even for the first.
	Cell  int
	exact bool
}

// A Settler divides the CPUs and memory of each node among its jobs so that the sum of their speeds is large. Its
// results depend only on the plan, the snapshot and the placements.
type Settler struct {
	// Penalty is the fraction of its speed that a job loses on several nodes, 0 to 1. Source: Synergy §6,
	// "Tradeoff between consolidation and allocation".
	Penalty float64
	// Jobs are the jobs of the plan that Read loaded last, in the plan's order.
	Jobs []Job

	cluster  *cluster.Cluster
	matrices matrices
	nodes    []node
	wide     []int
	knapsack knapsack
}

type node struct {
	jobs  []tenant          // with cells, in the order of the plan
	taken cluster.Resources // by Fixed jobs, and by the cells of jobs on several nodes
	last  answer
}

type tenant struct {
	job, gpus int
	wide      bool
}

// Settle chooses the CPUs and memory of all jobs and returns the sum of their relative speeds. A job's possible amounts
// are its cells.
//
//  1. Every job starts with its first cell. If these do not fit next to the Fixed jobs of a node, the last jobs of the
//     plan on it lose their allocations until the others fit.
//  2. Each job on several nodes has its turn, at most twice. It tries its cells from the largest value down; each time,
//     the jobs that are only on one of its nodes are settled again. It keeps the cell with the largest sum of values.
//  3. Each node is settled once more: a branch and bound chooses the cells of the jobs that are only there. It is exact
//     unless it reaches its limit of visits.
//
// Invariant after step 1: on every node, the first cells of its single-node jobs fit next to the Fixed and multi-node
// jobs. Step 2 preserves it, because a job chooses only cells for which it holds, or its first cell, which takes no
// more than before. The result need not be the best overall, because multi-node jobs are settled one by one.
//
// The time is linear in jobs and nodes, plus some microseconds for each changed node. A multi-node job costs one search
// for each of its cells and nodes, in each pass.
func (st *Settler) Settle() float64 {
	st.list()
	for n := range st.nodes {
		st.evict(n)
	}
	for range 2 {
		changed := false
		for _, i := range st.wide {
			before := st.Jobs[i].Cell
			st.spread(i)
			changed = changed || st.Jobs[i].Cell != before
		}
		if !changed {
			break
		}
	}
	value := 0.0
	for n := range st.nodes {
		if len(st.nodes[n].jobs) > 0 {
			value += st.settle(n)
		}
	}
	for _, i := range st.wide {
		value += st.worth(i, st.Jobs[i].Cell)
	}
	return value
}

func (st *Settler) list() {
	for n := range st.nodes {
		st.nodes[n].jobs, st.nodes[n].taken = st.nodes[n].jobs[:0], cluster.Resources{}
	}
	st.wide = st.wide[:0]
	for i := range st.Jobs {
		j := &st.Jobs[i]
		j.Cell = 0
		for _, s := range j.Fixed {
			if n, ok := st.cluster.Index(s.Node); ok {
				st.take(n, s.Resources, 1)
			}
		}
		if len(j.Cells) == 0 || len(j.Slots) == 0 {
			continue
		}
		wide := len(j.Slots) > 1
		for _, s := range j.Slots {
			st.nodes[s.Node].jobs = append(st.nodes[s.Node].jobs, tenant{i, s.GPUs, wide})
		}
		if wide {
			st.wide = append(st.wide, i)
			st.takeWide(i, 1)
		}
	}
}

func (st *Settler) take(n int, r cluster.Resources, so int) {
	t := &st.nodes[n].taken
	t.CPUs, t.Memory = t.CPUs+float64(so)*r.CPUs, t.Memory+int64(so)*r.Memory
}

func (st *Settler) takeWide(i, so int) {
	j := &st.Jobs[i]
	for _, s := range j.Slots {
		st.take(s.Node, times(j.Cells[j.Cell].Per(), s.GPUs), so)
	}
}

func (st *Settler) evict(n int) {
	for len(st.nodes[n].jobs) > 0 && !st.ready(n) {
		last := st.nodes[n].jobs[len(st.nodes[n].jobs)-1].job
		j := &st.Jobs[last]
		if len(j.Slots) > 1 {
			st.takeWide(last, -1)
			st.wide = slices.DeleteFunc(st.wide, func(i int) bool { return i == last })
		}
		for _, s := range j.Slots {
			st.nodes[s.Node].jobs = slices.DeleteFunc(st.nodes[s.Node].jobs, func(t tenant) bool { return t.job == last })
		}
		j.Slots, j.Cell = j.Slots[:0], -1
	}
}

func (st *Settler) ready(n int) bool {
	has, taken, k := &st.cluster.Nodes()[n].Capacity, &st.nodes[n].taken, &st.knapsack
	k.cpus, k.memory, k.items = has.CPUs*(1+cpuSlack/2)-taken.CPUs, float64(has.Memory-taken.Memory), k.items[:0]
	if has.CPUs == 0 {
		k.cpus, k.memory = 1e300, 1e300
	}
	for _, t := range st.nodes[n].jobs {
		if !t.wide {
			k.add(t.job, st.Jobs[t.job].Cells, float64(t.gpus), 1)
		}
	}
	return k.cpus >= 0 && k.memory >= 0
}

func (st *Settler) settle(n int) float64 {
	if v, ok := st.recall(n); ok {
		return v
	}
	if !st.ready(n) {
		return -1
	}
	value := st.knapsack.solve()
	for _, t := range st.nodes[n].jobs {
		if !t.wide {
			st.Jobs[t.job].Cell = 0
			value += st.Jobs[t.job].Cells[0].Value
		}
	}
	for i := range st.knapsack.items {
		st.Jobs[st.knapsack.items[i].job].Cell = st.knapsack.items[i].pick
	}
	st.remember(n, value)
	return value
}

func (st *Settler) spread(i int) {
	j := &st.Jobs[i]
	if len(j.Cells) == 1 {
		return
	}
	best, at, others := -1.0, 0, st.most(i)
	st.takeWide(i, -1)
	for j.Cell = len(j.Cells) - 1; j.Cell >= 0 && best+1e-12 < others+st.worth(i, j.Cell); j.Cell-- {
		st.takeWide(i, 1)
		if v, ok := st.around(i); ok && v > best+1e-12 {
			best, at = v, j.Cell
		}
		st.takeWide(i, -1)
	}
	j.Cell = at
	st.takeWide(i, 1)
}

func (st *Settler) most(i int) (value float64) {
	for _, s := range st.Jobs[i].Slots {
		for _, t := range st.nodes[s.Node].jobs {
			if c := st.Jobs[t.job].Cells; !t.wide {
				value += c[len(c)-1].Value
			}
		}
	}
	return value
}

func (st *Settler) around(i int) (value float64, ok bool) {
	value = st.worth(i, st.Jobs[i].Cell)
	for _, s := range st.Jobs[i].Slots {
		v := st.settle(s.Node)
		if v < 0 {
			return 0, false
		}
		value += v
	}
	return value, true
}

func (st *Settler) worth(i, cell int) float64 {
	v := st.Jobs[i].Cells[cell].Value
	if len(st.Jobs[i].Slots) > 1 {
		v *= 1 - st.Penalty
	}
	return v
}

type answer struct {
	taken cluster.Resources
	keys  []key
	value float64
}

type key struct {
	cells *Cell
	n     int
	gpus  int
	cell  int
}

func (st *Settler) recall(n int) (value float64, ok bool) {
	a, k := &st.nodes[n].last, 0
	if a.taken != st.nodes[n].taken {
		return 0, false
	}
	for _, t := range st.nodes[n].jobs {
		if t.wide {
			continue
		}
		c := st.Jobs[t.job].Cells
		if k == len(a.keys) || a.keys[k].cells != &c[0] || a.keys[k].n != len(c) || a.keys[k].gpus != t.gpus {
			return 0, false
		}
		k++
	}
	if k != len(a.keys) {
		return 0, false
	}
	k = 0
	for _, t := range st.nodes[n].jobs {
		if !t.wide {
			st.Jobs[t.job].Cell = a.keys[k].cell
			k++
		}
	}
	return a.value, true
}

func (st *Settler) remember(n int, value float64) {
	a := &st.nodes[n].last
	a.taken, a.value, a.keys = st.nodes[n].taken, value, a.keys[:0]
	for _, t := range st.nodes[n].jobs {
		if !t.wide {
			j := &st.Jobs[t.job]
			a.keys = append(a.keys, key{&j.Cells[0], len(j.Cells), t.gpus, j.Cell})
		}
	}
}
