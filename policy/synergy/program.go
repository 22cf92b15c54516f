package synergy

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/opt/engine"
	"github.com/oxgang/oxgang/opt/mmkp"
	"github.com/oxgang/oxgang/policy"
)

const gb = 1e9

// A program is (1) to (5) of §4.1.1, by GPU type. The cells of a job form a chain: a faster cell needs no
// less of anything. So every job has its first cell in advance, which is at least as fast as its share (5)
// and fits if shares do. The engine picks at most one larger cell for each job (4), for the value and
// resources that it adds. That is the same program, and no job is left out.
type program struct {
	engine   engine.Engine // nil until there is a choice
	numbers  []int
	items    int
	capacity []float64 // CPUs of type k at 2k, memory at 2k+1
	left     []cluster.Resources
	asked    []cluster.Resources
	choices  []mmkp.Choice
}

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

func (m *program) short(kind int) bool {
	left, asked := &m.left[kind], &m.asked[kind]
	return asked.CPUs > left.CPUs+1e-9 || asked.Memory > left.Memory
}

func (m *program) file(p *Policy) error {
	if err := m.resize(&p.o); err != nil {
		return err
	}
	for _, r := range p.stopped {
		if err := m.drop(r); err != nil {
			return err
		}
	}
	p.stopped = p.stopped[:0]
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

func step(t *tenant, c *cell) mmkp.Choice {
	from, to := t.cells[0].all(t.gpus), c.all(t.gpus)
	return mmkp.Choice{
		Value: c.worth - t.cells[0].worth,
		Use:   mmkp.Use{Resource: 2 * t.typeIndex, Amount: math.Max(0, to.CPUs-from.CPUs)},
		More:  []mmkp.Use{{Resource: 2*t.typeIndex + 1, Amount: float64(max(0, to.Memory-from.Memory)) / gb}},
	}
}

// tuneNodes limits the engine's search for Tune, which starts within some tenths of a percent of the bound.
const tuneNodes = 1000

const small = 4096

func (m *program) solve(ctx context.Context, p *Policy) (*mmkp.Solution, error) {
	sol, err := m.engine.Solve(ctx)
	exact, ok := engine.ExactSolvers()
	if err != nil || p.o.Mechanism != Opt || sol.Gap <= 1e-9 || !ok {
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
	best, err := exact.Knapsack(ctx, &whole)
	if err != nil {
		return nil, err
	}
	best.Prices, best.Iterations = sol.Prices, sol.Iterations
	return best, nil
}

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

func (m *program) start(o *Options) (err error) {
	limits := engine.Options{Nodes: tuneNodes}
	if o.Mechanism == Opt {
		limits.Nodes = 0
	}
	m.engine, err = engine.New(o.Solver, m.capacity, limits)
	return err
}

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

func (m *program) drop(r *row) error {
	if !r.known {
		return nil
	}
	r.known, r.filed = false, false
	m.numbers = append(m.numbers, r.number)
	return m.engine.Remove(r.number)
}

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

func worth(tenants []tenant) (all, first float64) {
	for i := range tenants {
		all += tenants[i].cells[tenants[i].level].worth
		first += tenants[i].cells[0].worth
	}
	return all, first
}

func (p *Policy) forget() {
	for id, r := range p.rows {
		if r.seen != p.round {
			delete(p.rows, id)
			if r.known {
				p.stopped = append(p.stopped, r)
			}
		}
	}
	// by number, so that runs are reproducible
	slices.SortFunc(p.stopped, func(a, b *row) int { return cmp.Compare(a.number, b.number) })
}
