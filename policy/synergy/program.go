package synergy

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/opt/engine"
	"github.com/oxgang/oxgang/opt/exact"
	"github.com/oxgang/oxgang/opt/mmkp"
	"github.com/oxgang/oxgang/policy"
)

// gb is the unit of memory in the program, so that its numbers are of one size
// with those of CPUs.
const gb = 1e9

// A program is (1) to (5) of §4.1.1, by GPU type: a job picks one of its cells, for
// its worth, and what the picks use of CPUs and memory fits the nodes of the type
// in total.
//
// The cells of a job are a chain: a faster one asks for no less of anything. So every job has
// its first cell beforehand, which is at least as fast as its share (5) and fits if shares do.
// The engine picks at most one larger cell for each job (4): a choice is worth what its cell
// adds to the first, and uses what it asks for beyond the first. That is the same program, and
// no job can be left out.
type program struct {
	engine   engine.Engine // nil until there was something to choose
	numbers  []int         // of items, given back
	items    int           // numbers given out
	capacity []float64     // of the engine: CPUs of type k at 2k, memory at 2k+1
	left     []cluster.Resources
	asked    []cluster.Resources
	choices  []mmkp.Choice
}

// choose sets the level of every tenant, and plan's Stats and Prices. Where all
// have room for their fastest cells there is nothing to solve.
func (m *program) choose(ctx context.Context, p *Policy, plan *policy.Plan) error {
	m.count(p, plan)
	short := false
	for i := range p.tenants {
		t := &p.tenants[i]
		if t.level = 0; !m.short(t.typeIndex) {
			t.level = len(t.cells) - 1
		}
		short = short || m.short(t.typeIndex)
	}
	if !short {
		plan.Stats.Objective, _ = worth(p.tenants)
		plan.Stats.Bound = plan.Stats.Objective
		return nil
	}
	if err := m.file(p); err != nil {
		return err
	}
	sol, err := m.solve(ctx, p)
	if err != nil {
		return err
	}
	for i := range p.tenants {
		if t := &p.tenants[i]; !t.fixed && m.short(t.typeIndex) {
			t.level = 1 + sol.Pick[t.row.number]
		}
	}
	m.report(p, plan, sol)
	return nil
}

// count sums up what is left of each type's CPUs and memory when everyone has its
// first cell, and what the fastest cells would use of that.
func (m *program) count(p *Policy, plan *policy.Plan) {
	types := p.cluster.Types()
	m.left, m.asked = m.left[:0], m.asked[:0]
	for i := range types {
		m.left = append(m.left, cluster.Resources{CPUs: types[i].CPUs, Memory: types[i].Memory})
		m.asked = append(m.asked, cluster.Resources{})
	}
	for i := range p.tenants {
		t := &p.tenants[i]
		a := &plan.Jobs[t.index].Allocation
		first := cluster.Resources{CPUs: a.CPUs, Memory: a.Memory}
		if !t.fixed {
			best := t.cells[len(t.cells)-1].all(t.gpus)
			first = t.cells[0].all(t.gpus)
			m.asked[t.typeIndex].CPUs += best.CPUs - first.CPUs
			m.asked[t.typeIndex].Memory += best.Memory - first.Memory
		}
		m.left[t.typeIndex].CPUs -= first.CPUs
		m.left[t.typeIndex].Memory -= first.Memory
	}
}

// short reports whether a type lacks CPUs or memory for the fastest cells.
func (m *program) short(kind int) bool {
	left, asked := &m.left[kind], &m.asked[kind]
	return asked.CPUs > left.CPUs+1e-9 || asked.Memory > left.Memory
}

// file brings the engine up to date: an item for every tenant that has a choice.
func (m *program) file(p *Policy) error {
	if err := m.resize(&p.o); err != nil {
		return err
	}
	for _, r := range p.gone {
		if err := m.drop(r); err != nil {
			return err
		}
	}
	p.gone = p.gone[:0]
	for i := range p.tenants {
		t := &p.tenants[i]
		if t.fixed || t.row.filed {
			continue
		}
		m.number(t.row)
		m.choices = m.choices[:0]
		for _, c := range t.cells[1:] {
			m.choices = append(m.choices, step(t, &c))
		}
		t.row.known = true
		if err := m.engine.Set(t.row.number, mmkp.Item{Choices: m.choices}); err != nil {
			return err
		}
		t.row.filed = true
	}
	return nil
}

// step returns the choice to have c rather than the first cell.
func step(t *tenant, c *cell) mmkp.Choice {
	from, to := t.cells[0].all(t.gpus), c.all(t.gpus)
	return mmkp.Choice{
		Value: c.worth - t.cells[0].worth,
		Use:   mmkp.Use{Resource: 2 * t.typeIndex, Amount: math.Max(0, to.CPUs-from.CPUs)},
		More:  []mmkp.Use{{Resource: 2*t.typeIndex + 1, Amount: float64(max(0, to.Memory-from.Memory)) / gb}},
	}
}

// tuneNodes limits the engine's search for Tune. Before the search its answer is within some
// tenths of a percent of the bound, and most improvements are found early.
const tuneNodes = 1000

// small is the number of choices up to which Opt lets the exact solver have a
// program that the engine did not prove.
const small = 4096

// solve lets the engine choose; for Opt, where that leaves a gap, the exact solver.
func (m *program) solve(ctx context.Context, p *Policy) (*mmkp.Solution, error) {
	sol, err := m.engine.Solve(ctx)
	if err != nil || p.o.Mechanism != Opt || sol.Gap <= 1e-9 || !exact.Available {
		return sol, err
	}
	whole := mmkp.Problem{Capacity: m.capacity, Items: make([]mmkp.Item, m.items)}
	choices := 0
	for i := range p.tenants {
		t := &p.tenants[i]
		if t.fixed {
			continue
		}
		it := &whole.Items[t.row.number]
		for _, c := range t.cells[1:] {
			it.Choices = append(it.Choices, step(t, &c))
		}
		choices += len(it.Choices)
	}
	if choices > small {
		return sol, nil
	}
	best, err := exact.Solve(ctx, &whole)
	if err != nil {
		return nil, err
	}
	best.Prices, best.Iterations = sol.Prices, sol.Iterations
	return best, nil
}

// resize tells the engine what is left of each resource.
func (m *program) resize(o *Options) error {
	for k, left := range m.left {
		for r, amount := range [2]float64{math.Max(0, left.CPUs), math.Max(0, float64(left.Memory)/gb)} {
			switch at := 2*k + r; {
			case m.engine == nil:
				m.capacity = append(m.capacity, amount)
			case m.capacity[at] != amount:
				m.capacity[at] = amount
				if err := m.engine.SetCapacity(at, amount); err != nil {
					return err
				}
			}
		}
	}
	if m.engine != nil {
		return nil
	}
	return m.start(o)
}

// start makes an engine without items.
func (m *program) start(o *Options) (err error) {
	limits := engine.Options{Nodes: tuneNodes}
	if o.Mechanism == Opt {
		limits.Nodes = 0
	}
	m.engine, err = engine.New(o.Solver, m.capacity, limits)
	return err
}

// number gives a row the number of an item.
func (m *program) number(r *row) {
	switch n := len(m.numbers); {
	case r.known:
	case n > 0:
		r.number = m.numbers[n-1]
		m.numbers = m.numbers[:n-1]
	default:
		r.number = m.items
		m.items++
	}
}

// drop takes a row out of the engine.
func (m *program) drop(r *row) error {
	if !r.known {
		return nil
	}
	r.known, r.filed = false, false
	m.numbers = append(m.numbers, r.number)
	return m.engine.Remove(r.number)
}

// report sets what a plan says of how it was found.
func (m *program) report(p *Policy, plan *policy.Plan, sol *mmkp.Solution) {
	got, first := worth(p.tenants)
	bound := math.Max(got, first+sol.Bound)
	plan.Stats = policy.Stats{
		Iterations: sol.Iterations, Objective: got, Bound: bound, Gap: policy.Gap(got, bound), Interrupted: sol.Status == mmkp.Interrupted,
	}
	for k, t := range p.cluster.Types() {
		if cpu, memory := sol.Prices[2*k], sol.Prices[2*k+1]; m.short(k) && (cpu > 0 || memory > 0) {
			plan.Prices = append(plan.Prices, policy.TypePrice{Type: t.Type, CPU: cpu, Memory: memory})
		}
	}
}

// worth returns what the tenants' cells are worth, and what their first are.
func worth(tenants []tenant) (all, first float64) {
	for i := range tenants {
		all += tenants[i].cells[tenants[i].level].worth
		first += tenants[i].cells[0].worth
	}
	return all, first
}

// forget takes the rows of jobs that no longer run out of the policy.
func (p *Policy) forget() {
	for id, r := range p.rows {
		if r.seen != p.round {
			delete(p.rows, id)
			if r.known {
				p.gone = append(p.gone, r)
			}
		}
	}
	// In the order of numbers, so that equal runs number alike.
	slices.SortFunc(p.gone, func(a, b *row) int { return cmp.Compare(a.number, b.number) })
}
