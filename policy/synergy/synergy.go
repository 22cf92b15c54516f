package synergy

import (
	"context"
	"errors"
	"fmt"

	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/opt/engine"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
	"github.com/oxgang/oxgang/policy/queue"
)

// A Policy is Synergy. It caches the last program and its prices. The cached prices affect only the choice between
// plans that are equally good within the solver's gap.
type Policy struct {
	o       Options
	line    *queue.Policy
	cluster *cluster.Cluster
	rows    map[job.ID]*row
	program program
	packing packing
	settler placement.Settler // for Opt
	greedy  greedy
	tenants []tenant // of this round
	round   int
	stopped []*row // of jobs that stopped in this round
}

// New returns a Policy, or the policy of the authors' public code if o.Rules is PublicCode.
func New(o Options) (policy.Policy, error) {
	if err := o.validate(); err != nil {
		return nil, fmt.Errorf("synergy: %w", err)
	}
	if err := engine.Check(o.Solver); err != nil {
		return nil, fmt.Errorf("synergy: %w", err)
	}
	if o.Rules == PublicCode {
		if o.Public == nil {
			return nil, errors.New("synergy: rules public-code, want paper: this program lacks the public code's rules")
		}
		return o.Public(o), nil
	}
	order, err := queue.FindOrder(o.Order)
	if err != nil {
		return nil, fmt.Errorf("synergy: %w", err)
	}
	p := &Policy{o: o, rows: map[job.ID]*row{}}
	line := queue.Options{Order: order, Preempt: true, Backfill: true, Weighs: o.Order == "srtf"}
	if o.Mechanism == Greedy {
		line.Gate = p.admit
	}
	p.line = queue.New(line)
	return p, nil
}

type tenant struct {
	index     int // of the job
	typeIndex int // GPU type, by index in Cluster.Types
	gpus      int
	cells     []cell // of row; one if fixed
	level     int    // chosen cell
	fixed     bool   // keeps its allocation, or gets its share
	row       *row
}

// Traits implements policy.Policy.
func (p *Policy) Traits() policy.Traits {
	return policy.Traits{Models: true, IgnoresProgress: p.o.Order == "fifo"}
}

// Plan implements policy.Policy.
func (p *Policy) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	p.meet(s.Cluster)
	p.round++
	plan, err := p.line.Plan(ctx, s) // 1. which jobs run, on which GPUs
	if err != nil {
		return nil, fmt.Errorf("synergy: %w", err)
	}
	switch p.o.Mechanism { // 2. their CPUs and memory
	case Proportional:
	case Greedy:
		p.placeAdmitted(s, plan)
		p.forget()
	case Tune, Opt:
		if err := p.share(ctx, s, plan); err != nil {
			return nil, fmt.Errorf("synergy: round %d: %w", s.Round, err)
		}
	}
	return plan, nil
}

func (p *Policy) share(ctx context.Context, s *policy.Snapshot, plan *policy.Plan) error {
	p.gather(s, plan)
	if len(p.tenants) == 0 {
		return nil
	}
	if p.o.Mechanism == Tune && p.o.Cells == DemandOnly {
		p.tune(s, plan)
		p.explain(s, plan)
		return nil
	}
	plan.Fungible = true
	if err := p.program.choose(ctx, p, plan); err != nil {
		return err
	}
	p.grant(plan)
	if p.o.Mechanism == Opt {
		if err := p.deploy(ctx, s, plan); err != nil {
			return err
		}
	}
	p.explain(s, plan)
	return nil
}

func (p *Policy) meet(c *cluster.Cluster) {
	if p.cluster == c {
		return
	}
	p.cluster = c
	clear(p.rows)
	p.stopped = p.stopped[:0]
	p.program = program{}
	p.packing, p.greedy = newPacking(c), greedy{}
}

func (p *Policy) gather(s *policy.Snapshot, plan *policy.Plan) {
	p.tenants = p.tenants[:0]
	types := s.Cluster.Types()
	for i, j := range s.Jobs {
		a := &plan.Jobs[i].Allocation
		kind := s.Cluster.TypeIndex(a.GPUType)
		if a.GPUs == 0 || kind < 0 || !types[kind].Counts() {
			continue
		}
		t := tenant{index: i, typeIndex: kind, gpus: a.GPUs, fixed: j.NonPreemptive}
		if t.fixed {
			per := each(a)
			t.cells = []cell{{Cell: perf.Cell{CPUs: per.CPUs, Memory: per.Memory}}}
		} else {
			t.row = p.row(j, &types[kind], a.Configuration)
			t.row.seen = p.round
			t.cells = t.row.cells
		}
		p.tenants = append(p.tenants, t)
	}
	p.forget()
}

// grant writes the cells into the plan. Sums of bytes must be exact: an excess is taken from jobs with more
// than their first cell.
func (p *Policy) grant(plan *policy.Plan) {
	left := make([]int64, len(p.cluster.Types()))
	for k, t := range p.cluster.Types() {
		left[k] = t.Memory
	}
	for k := range p.tenants {
		t := &p.tenants[k]
		a := &plan.Jobs[t.index].Allocation
		if !t.fixed {
			got := t.cells[t.level].all(t.gpus)
			a.CPUs, a.Memory = got.CPUs, got.Memory
		}
		left[t.typeIndex] -= a.Memory
	}
	for k := range p.tenants {
		t := &p.tenants[k]
		if over, gpus := -left[t.typeIndex], int64(t.gpus); over > 0 && !t.fixed {
			more := t.cells[t.level].Memory - t.cells[0].Memory
			off := gpus * min(more, (over+gpus-1)/gpus)
			plan.Jobs[t.index].Allocation.Memory -= off
			left[t.typeIndex] += off
		}
	}
}

func (t *tenant) demand() cluster.Resources { return t.cells[len(t.cells)-1].all(t.gpus) }

// Remember lets m save or restore the state that p keeps between rounds. The queue has none.
func (p *Policy) Remember(m *memory.Codec) {
	memory.Once(m, &p.cluster, (*cluster.Cluster).Remember)
	if m.Decoding() && p.cluster != nil {
		p.packing = newPacking(p.cluster)
	}
	m.Fields(&p.round)
	memory.Map(m, &p.rows, memory.To((*row).Remember))
	memory.Slice(m, &p.stopped, memory.To((*row).Remember))
	p.program.remember(m, &p.o)
}

func (g *program) remember(m *memory.Codec, o *Options) {
	some := g.engine != nil
	m.Fields(&g.numbers, &g.items, &g.capacity, &some)
	if m.Decoding() && some {
		if err := g.start(o); err != nil {
			m.Fail("%w", err)
		}
	}
	if g.engine != nil {
		m.Fields(g.engine)
	}
}

func (r *row) Remember(m *memory.Codec) {
	memory.Shared(m, &r.perf)
	memory.Shared(m, &r.sensitivity)
	memory.Shared(m, &r.limits)
	m.Fields(&r.config, &r.number, &r.filed, &r.known, &r.seen)
	memory.Slice(m, &r.cells, func(c *cell, m *memory.Codec) { m.Fields(&c.CPUs, &c.Memory, &c.Rate, &c.worth) })
}

func (p *Policy) explain(s *policy.Snapshot, plan *policy.Plan) {
	for k := range p.tenants {
		t := &p.tenants[k]
		d, share := &plan.Jobs[t.index], &p.cluster.Types()[t.typeIndex].Share
		if t.fixed || d.Why.Kind != policy.AsPlanned || s.Jobs[t.index].Sensitivity == nil || t.cells[0].worth == 0 {
			continue
		}
		got := &t.cells[t.level]
		why := policy.Reason{Config: d.Allocation.Configuration, Value: got.worth / t.cells[0].worth}
		switch {
		case got.CPUs > share.CPUs || got.Memory > share.Memory:
			why.Kind = policy.AboveShare
		case got.CPUs < share.CPUs || got.Memory < share.Memory:
			why.Kind = policy.BelowShare
		default:
			continue
		}
		d.Why = why
	}
}
