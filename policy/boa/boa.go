package boa

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
)

// A Policy is BOA Constrictor, which rents GPUs within a budget. It stores the planned number of GPUs for each class of
// similar jobs, past spending, and the state of each job.
type Policy struct {
	o      Options
	ledger ledger
	nodes  []cluster.Rental // in the last round
	rate   float64          // cost per hour of the last round's widths
	fill   fill
	needs  map[cluster.Group][]need // see spareNodes

	widths *widths // nil: none yet
	asked  inputs  // of the last computation
	at     time.Time
	now    time.Time
	work   policy.Work // running computation, or nil
	failed string

	tickets map[job.ID]float64 // see draw
	drawn   map[job.Class]int
}

type inputs struct {
	classes []*perf.ClassStats
	offers  []cluster.Offer
	budget  float64
	fill    float64
}

// New returns a Policy, or all errors in o, joined.
func New(o Options) (*Policy, error) {
	if err := o.validate(); err != nil {
		return nil, fmt.Errorf("boa: %w", err)
	}
	return &Policy{o: o, tickets: make(map[job.ID]float64), drawn: make(map[job.Class]int)}, nil
}

// Traits implements policy.Policy.
func (*Policy) Traits() policy.Traits {
	return policy.Traits{Models: true, Sizes: true, Classes: true, Rents: true}
}

// Plan implements policy.Policy. It takes time linear in jobs and nodes, plus time linear in the nodes of a GPU type
// for each job that moves to it.
func (p *Policy) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("boa: round %d: %w", s.Round, err)
	}
	p.now = s.Now
	offers, ends := p.offers(s)
	p.account(s, offers)                      // 1. past spending
	work := p.learn(ctx, s, offers[:ends[0]]) // 2. widths
	r := p.newRound(s, offers, ends)
	r.pin()    // 3. fixed decisions
	r.aim()    // 4. the width of each job
	r.keep()   // 5. unchanged jobs
	r.place()  // 6. the others, if nodes are there
	r.finish() // 7. nodes to rent
	p.rate = r.rate()
	p.fill.used, p.fill.gpus = r.shared()
	p.tickets = policy.Forget(s, p.tickets)
	r.plan.Background = work
	r.plan.Stats.Failed = p.failed
	return r.plan, nil
}

// offers returns the rentals, then owned nodes by size, then owned nodes of mixed sizes, with the end of each part. A
// job uses a part only if earlier parts do not suffice.
func (p *Policy) offers(s *policy.Snapshot) (all []cluster.Offer, ends []int) {
	for i := range s.Rentals {
		all = append(all, s.Rentals[i].Offer)
	}
	held := s.Cluster.Held()
	if len(all) > 0 {
		ends = append(ends, len(all))
	}
	all = append(all, owned(held)...)
	ends = append(ends, len(all))
	all = append(all, mixed(held)...)
	ends = append(ends, len(all))
	if !p.o.Money {
		for i := range all {
			all[i].Node.Price = 0
		}
	}
	return all, ends
}

func owned(c *cluster.Cluster) []cluster.Offer {
	var all []cluster.Offer
	for _, n := range c.Nodes() {
		node := cluster.Node{GPUType: n.GPUType, Capacity: cluster.Resources{GPUs: n.Capacity.GPUs}}
		i := slices.IndexFunc(all, func(o cluster.Offer) bool { return o.Node == node })
		if i < 0 {
			i = len(all)
			all = append(all, cluster.Offer{Group: cluster.RentGroup(n.GPUType, n.Capacity.GPUs), Node: node})
		}
		all[i].Most++
	}
	return all
}

// mixed returns the GPU types with nodes of several sizes, as if all had the largest: together they carry
// amounts that no one size carries.
func mixed(c *cluster.Cluster) []cluster.Offer {
	var all []cluster.Offer
	for _, t := range c.Types() {
		if len(t.Sizes) > 1 {
			node := cluster.Node{GPUType: t.Type, Capacity: cluster.Resources{GPUs: t.PerNode}}
			all = append(all, cluster.Offer{Group: cluster.Group(t.Type), Node: node, Most: t.Nodes})
		}
	}
	return all
}

// account books the spending since the last round. Nodes that left count for the whole round.
func (p *Policy) account(s *policy.Snapshot, offers []cluster.Offer) {
	paid := 0.0
	for i := range s.Rentals {
		now := &s.Rentals[i]
		nodes, leaving := now.Ready+now.Starting, now.Leaving
		if k := slices.IndexFunc(p.nodes, func(r cluster.Rental) bool { return r.Group == now.Group }); k >= 0 {
			was := &p.nodes[k]
			leaving = max(leaving, was.Leaving+max(0, was.Ready+was.Starting-nodes))
		}
		paid += float64(nodes+leaving) * offers[i].NodePrice()
	}
	p.nodes = s.Rentals
	p.fill.enter(s.Now)
	p.ledger.enter(s.Now, p.o.Window, paid, p.rate)
}

func (p *Policy) guarantee() guarantee {
	return guarantee{budget: p.o.Budget, slack: p.o.Slack, window: p.o.Window, horizon: p.o.Horizon}
}

func (p *Policy) budget(s *policy.Snapshot) float64 {
	switch {
	case p.o.Budget == 0:
		return math.Inf(1)
	case len(s.Rentals) == 0:
		return p.o.Budget
	}
	pr := p.guarantee()
	return p.ledger.budget(s.Now, &pr)
}

func (p *Policy) most(s *policy.Snapshot, ahead time.Duration) float64 {
	if p.o.Budget == 0 {
		return math.Inf(1)
	}
	pr := p.guarantee()
	return p.ledger.most(s.Now, &pr, s.Length, ahead)
}

// golden is the golden ratio less 1: its multiples are spread evenly over [0, 1).
const golden = 0.6180339887498949

// draw returns a number in [0, 1) for a job. Below the faster table's share of arrivals, the job uses that
// table.
func (p *Policy) draw(j *policy.Job) float64 {
	place, ok := p.tickets[j.ID]
	if !ok {
		p.drawn[j.Class]++
		_, place = math.Modf(golden * float64(p.drawn[j.Class]))
		p.tickets[j.ID] = place
	}
	return place
}

// Options configure BOA Constrictor.
type Options struct {
	// Budget is the mean spending allowed per hour, in GPU-hours or money. Default 0: no limit (§3.1: b).
	Budget float64
	Money  bool   // whether Budget is money; default false: GPU-hours
	Method Method // how widths are chosen; default Mixture
	Widest int    // largest number of GPUs of a job; default 64 (§6.3, the limit of the paper's simulator)
	// Recompute is the minimum time between computations of the number of GPUs of each class. Default 15 min (§5.2).
	Recompute time.Duration
	// Window and Slack limit spending: in any Window it is at most Budget plus Slack. Default 7 days and 2 %.
	Window time.Duration
	Slack  float64
	// Horizon is the time over which the policy corrects past over- and underspending. Default 7 days, because a
	// price that follows every burst makes jobs slower. If 0, past spending and Window have no effect.
	Horizon time.Duration
}

// DefaultOptions returns the default settings.
func DefaultOptions() Options {
	return Options{Widest: 64, Recompute: 15 * time.Minute, Window: 7 * 24 * time.Hour, Slack: 0.02, Horizon: 7 * 24 * time.Hour}
}

func (o *Options) validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if !(o.Budget >= 0) || math.IsInf(o.Budget, 0) {
		bad("budget %v per hour, want a number of at least 0", o.Budget)
	}
	if o.Method > Published {
		bad("method %d, want at most %d", o.Method, Published)
	}
	if o.Widest < 1 || o.Widest > 4096 {
		bad("widest %d GPUs, want 1 to 4096", o.Widest)
	}
	if o.Recompute < 0 {
		bad("recompute after %v, want at least 0", o.Recompute)
	}
	if o.Window < time.Hour || !(o.Slack >= 0 && o.Slack <= 1) {
		bad("window %v with slack %v, want at least 1h and 0 to 1", o.Window, o.Slack)
	}
	if o.Horizon < 0 {
		bad("horizon %v, want at least 0", o.Horizon)
	}
	return errors.Join(errs...)
}

// Remember saves and restores the policy's state (policy.Rememberer). After the first plan, only the same process can
// restore it, because it refers to statistics of job classes in memory; in another process m reports an error.
func (p *Policy) Remember(m *memory.Codec) {
	working := p.work != nil
	if !m.Sharing() && !p.at.IsZero() {
		m.Fail("boa: widths: %w", errors.ErrUnsupported)
	}
	m.Fields(&p.ledger.begun, &p.rate, &p.fill.at, &p.fill.used, &p.fill.gpus, &p.fill.had, &p.fill.paid, &p.at, &p.failed, &working)
	memory.Slice(m, &p.ledger.points, func(at *point, m *memory.Codec) { m.Fields(&at.at, &at.spent, &at.width) })
	memory.Slice(m, &p.nodes, (*cluster.Rental).Remember)
	memory.Map(m, &p.needs, func(all *[]need, m *memory.Codec) {
		memory.Slice(m, all, func(n *need, m *memory.Codec) { m.Fields(&n.at, &n.nodes) })
	})
	memory.Map(m, &p.tickets, memory.Float)
	memory.Map(m, &p.drawn, memory.Number)
	memory.Shared(m, &p.widths)
	memory.Slice(m, &p.asked.classes, func(c **perf.ClassStats, m *memory.Codec) { memory.Shared(m, c) })
	memory.Slice(m, &p.asked.offers, (*cluster.Offer).Remember)
	if m.Fields(&p.asked.budget, &p.asked.fill); m.Decoding() && working {
		p.work = p.computing()
	}
}
