package synergy

import (
	"context"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/opt/engine"
	"github.com/oxgang/oxgang/opt/lp"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
)

const largest = 100_000

const whole = 1 - 1e-6

// deploy places the tenants, with the cells of the first program, by a second program, and writes the plan.
// If that is too large, has no solution, or the program has no exact solver, the placer decides.
//
// Deviation: a job that the program divides gets whole GPUs, on as few nodes as possible, because GPUs are
// not shared (§4.1.3). If cells then have no room, the jobs of each node settle on smaller ones.
func (p *Policy) deploy(ctx context.Context, s *policy.Snapshot, plan *policy.Plan) error {
	g := &p.packing
	g.reset(len(p.tenants))
	p.keep(s)
	for kind := range p.cluster.Types() {
		if ok, err := p.spread(ctx, s, kind); err != nil || !ok {
			return err
		}
	}
	for _, k := range p.byDemand() {
		if g.slots[k] == nil {
			p.mend(s, k)
		}
	}
	p.settle(s, plan)
	p.yield(plan)
	p.place(s, plan)
	plan.Fungible = false
	plan.Stats.Objective, _ = worth(p.tenants)
	plan.Stats.Gap = policy.Gap(plan.Stats.Objective, plan.Stats.Bound)
	return nil
}

// A spreading is the second program of one GPU type: a part x_ij of job j is on node i. Each job is placed
// completely, within the GPUs, CPUs and memory of each node. Moving costs. Source: Synergy §4.1.2.
//
// Few jobs are divided: a vertex has at most as many nonzero variables as rows, one for each of n jobs and
// three for each of s nodes. Each job has at least one, which leaves at most 3s second parts.
type spreading struct {
	jobs  []int // tenants
	nodes []int
	x     [][]lp.Col // by job, then node
	gpus  []int      // by job
}

func (p *Policy) spread(ctx context.Context, s *policy.Snapshot, kind int) (bool, error) {
	m := p.spreading(kind)
	if len(m.jobs) == 0 {
		return true, nil
	}
	exact, ok := engine.ExactSolvers()
	if !ok || len(m.jobs)*len(m.nodes) > largest {
		return false, nil
	}
	problem, err := m.problem(p, s)
	if err != nil {
		return false, err
	}
	solver, err := exact.Vertex()
	if err != nil {
		return false, err
	}
	best, err := m.fewest(ctx, solver, problem)
	if err != nil || best == nil {
		return false, err
	}
	m.place(p, best)
	return true, nil
}

const tries = 4

// fewest solves the program several times and returns the solution in which divided jobs have the fewest
// GPUs; nil if there is none. Division is not linear in x, so each later solve charges a job for what it had
// on other nodes in the last solution, and large jobs more.
func (m *spreading) fewest(ctx context.Context, solver lp.Solver, problem *lp.Problem) (best *lp.Solution, err error) {
	for range tries {
		sol, err := solver.Solve(ctx, problem)
		if err != nil {
			return nil, err
		}
		if sol.Status != lp.Optimal {
			return best, nil
		}
		if best == nil || m.divided(sol) < m.divided(best) {
			best = sol
		}
		if m.divided(sol) == 0 {
			break
		}
		for k := range m.x {
			weight := float64(m.gpus[k] * m.gpus[k])
			for _, col := range m.x[k] {
				if err := problem.SetCost(col, weight*(1-sol.Value(col))); err != nil {
					return nil, err
				}
			}
		}
	}
	return best, nil
}

func (m *spreading) divided(sol *lp.Solution) int {
	gpus := 0
	for k := range m.x {
		if !slices.ContainsFunc(m.x[k], func(c lp.Col) bool { return sol.Value(c) >= whole }) {
			gpus += m.gpus[k]
		}
	}
	return gpus
}

func (p *Policy) spreading(kind int) *spreading {
	m := &spreading{}
	for k := range p.tenants {
		if p.tenants[k].typeIndex == kind && p.packing.slots[k] == nil {
			m.jobs = append(m.jobs, k)
			m.gpus = append(m.gpus, p.tenants[k].gpus)
		}
	}
	for n := range p.cluster.Nodes() {
		if p.cluster.Nodes()[n].GPUType == p.cluster.Types()[kind].Type {
			m.nodes = append(m.nodes, n)
		}
	}
	return m
}

func (m *spreading) problem(p *Policy, s *policy.Snapshot) (*lp.Problem, error) {
	problem := &lp.Problem{}
	rows := make([][3]lp.Row, len(m.nodes))
	for i, n := range m.nodes {
		free := p.packing.nodes.Free(n)
		for r, amount := range [3]float64{float64(free.GPUs), free.CPUs, float64(free.Memory) / gb} {
			var err error
			if rows[i][r], err = problem.AddRow(-lp.Inf, max(0, amount)); err != nil {
				return nil, err
			}
		}
	}
	m.x = make([][]lp.Col, len(m.jobs))
	for k, at := range m.jobs {
		t := &p.tenants[at]
		once, err := problem.AddRow(1, 1)
		if err != nil {
			return nil, err
		}
		all, held := t.cells[t.level].all(t.gpus), p.packing.held(s.Jobs[t.index])
		for i, n := range m.nodes {
			col, err := problem.AddCol(moved(held, n, t.gpus), 0, lp.Inf,
				lp.RowEntry{Row: once, Value: 1}, lp.RowEntry{Row: rows[i][0], Value: float64(all.GPUs)},
				lp.RowEntry{Row: rows[i][1], Value: all.CPUs}, lp.RowEntry{Row: rows[i][2], Value: float64(all.Memory) / gb})
			if err != nil {
				return nil, err
			}
			m.x[k] = append(m.x[k], col)
		}
	}
	return problem, nil
}

func moved(held []placement.Slot, node, gpus int) float64 {
	for _, slot := range held {
		if slot.Node == node {
			return 1 - float64(min(slot.GPUs, gpus))/float64(gpus)
		}
	}
	return 1
}

func (m *spreading) place(p *Policy, sol *lp.Solution) {
	for k, at := range m.jobs {
		t := &p.tenants[at]
		for i, n := range m.nodes {
			one := []placement.Slot{{Node: n, GPUs: t.gpus}}
			if per := t.cells[t.level].per(); sol.Value(m.x[k][i]) >= whole && p.packing.nodes.Fits(one, per) {
				p.packing.take(at, one, per)
				break
			}
		}
	}
}

func (p *Policy) mend(s *policy.Snapshot, k int) {
	t := &p.tenants[k]
	for level := t.level; level >= 0; level-- {
		if p.fit(s, k, level) {
			return
		}
	}
	g, j := &p.packing, s.Jobs[t.index]
	if slots, ok := g.nodes.BestFitGPUs(p.cluster.Types()[t.typeIndex].Type, t.gpus, j.WorkerGPUs, g.held(j)); ok {
		g.take(k, slots, t.cells[0].per())
	}
}

func (p *Policy) settle(s *policy.Snapshot, plan *policy.Plan) {
	p.settler.Read(s, plan)
	for k := range p.tenants {
		t := &p.tenants[k]
		row := &p.settler.Jobs[t.index]
		if len(row.Cells) > 0 {
			row.Slots = append(row.Slots, p.packing.slots[k]...)
		}
	}
	p.settler.Settle()
	for k := range p.tenants {
		t := &p.tenants[k]
		row := &p.settler.Jobs[t.index]
		switch {
		case len(row.Cells) == 0 || p.packing.slots[k] == nil:
			continue
		case row.Cell < 0:
			p.packing.slots[k] = nil
			continue
		}
		got := &row.Cells[row.Cell]
		worth := t.cells[0].worth * got.Value
		if len(row.Cells) == 1 {
			worth = t.cells[0].worth
		}
		t.cells = []cell{t.cells[0], {Cell: perf.Cell{CPUs: got.CPUs, Memory: got.Memory}, worth: worth}}
		t.level = 1
	}
}

// yield grants unplaced tenants their first cells, for which the placer may find room. If their GPU type then
// has too little, the tenants with most beyond their first cells revert until all fit, as first cells do.
func (p *Policy) yield(plan *policy.Plan) {
	lost := make(map[int]bool) // GPU types with an unplaced tenant
	for k := range p.tenants {
		if t := &p.tenants[k]; p.packing.slots[k] == nil && !t.fixed {
			t.level, lost[t.typeIndex] = 0, true
			first := t.cells[0].all(t.gpus)
			a := &plan.Jobs[t.index].Allocation
			a.CPUs, a.Memory = first.CPUs, first.Memory
		}
	}
	for kind := range p.cluster.Types() {
		if !lost[kind] {
			continue
		}
		for over := p.over(kind, plan); over; over = p.over(kind, plan) {
			if !p.giveBack(kind) {
				break
			}
		}
	}
}

func (p *Policy) over(kind int, plan *policy.Plan) bool {
	info := &p.cluster.Types()[kind]
	left := cluster.Resources{CPUs: info.CPUs, Memory: info.Memory}
	for k := range p.tenants {
		t := &p.tenants[k]
		if t.typeIndex != kind {
			continue
		}
		got := t.cells[t.level].all(t.gpus)
		if t.fixed {
			a := &plan.Jobs[t.index].Allocation
			got.CPUs, got.Memory = a.CPUs, a.Memory
		}
		left.CPUs, left.Memory = left.CPUs-got.CPUs, left.Memory-got.Memory
	}
	return left.CPUs < -1e-9*info.CPUs || left.Memory < 0 // sums of CPUs are rounded
}

func (p *Policy) giveBack(kind int) bool {
	info, worst, most := &p.cluster.Types()[kind], -1, 0.0
	for k := range p.tenants {
		t := &p.tenants[k]
		if t.typeIndex != kind || t.fixed || t.level == 0 {
			continue
		}
		got, first := t.cells[t.level].all(t.gpus), t.cells[0].all(t.gpus)
		more := max((got.CPUs-first.CPUs)/max(1, info.CPUs), float64(got.Memory-first.Memory)/max(1, float64(info.Memory)))
		if worst < 0 || more > most {
			worst, most = k, more
		}
	}
	if worst >= 0 {
		p.tenants[worst].level = 0
	}
	return worst >= 0
}
