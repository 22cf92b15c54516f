package lyra

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/lyra/allocate"
	"github.com/oxgang/oxgang/policy/reclaim"
)

// Options configure Lyra.
type Options struct {
	Allocate allocate.Options
	Reclaim  reclaim.Options
	// Loan selects what runs on servers on loan. Default Borrow.
	Loan Loan
	// Patience is the waiting time after which a job goes first. 0: never, as in the paper. Default four days:
	// with one day, jobs end later on average (docs/experiments/lyra.md).
	Patience time.Duration
	// Group keeps base workers, without which a job cannot run, and flexible workers on separate servers. Default true
	// (Lyra §5.3); Lyra's Table 6 has false.
	Group bool
	// Foresee keeps jobs off servers on loan that will be returned before they end, and puts jobs that end
	// late together. Default true; not in Lyra.
	Foresee bool
}

// A Loan selects which jobs may run on nodes that an inference cluster lends.
type Loan string

// The values of Loan.
const (
	Borrow      Loan = "loan"        // as in Lyra: fungible jobs, which can use either GPU type, run on training servers and on lent ones
	Opportunity Loan = "opportunity" // fungible jobs run only on lent servers (Lyra §7.1)
	NoLoan      Loan = "none"        // no nodes are borrowed
)

// DefaultOptions returns the default settings.
func DefaultOptions() Options {
	return Options{
		Allocate: allocate.DefaultOptions(), Reclaim: reclaim.DefaultOptions(),
		Loan: Borrow, Patience: 96 * time.Hour, Group: true, Foresee: true,
	}
}

func (o *Options) validate() error {
	errs := []error{o.Allocate.Validate(), o.Reclaim.Validate()}
	if !slices.Contains([]Loan{Borrow, Opportunity, NoLoan}, o.Loan) {
		errs = append(errs, fmt.Errorf("loan %q, want %s, %s or %s", o.Loan, Borrow, Opportunity, NoLoan))
	}
	if o.Patience < 0 {
		errs = append(errs, fmt.Errorf("patience %v, want at least 0", o.Patience))
	}
	return errors.Join(errs...)
}

// A Policy is Lyra. It remembers which workers of elastic jobs are base demand, the workers that a job cannot run
// without.
type Policy struct {
	o      Options
	bases  map[job.ID]base
	curves map[place]*curve

	allocator allocate.Allocator
	jobs      []allocate.Job
	last      []*tenant
	spare     []*tenant // buffer for the next round
	at        int       // read position in last
	layout    layout
}

type base struct {
	on   cluster.Placement
	seen int
}

// New returns a Policy, or all errors in o, joined.
func New(o Options) (*Policy, error) {
	if err := o.validate(); err != nil {
		return nil, fmt.Errorf("lyra: %w", err)
	}
	return &Policy{o: o, bases: make(map[job.ID]base), curves: make(map[place]*curve)}, nil
}

// Traits implements policy.Policy.
func (*Policy) Traits() policy.Traits {
	return policy.Traits{Models: true, Sizes: true, Borrows: true}
}

// Plan implements policy.Policy.
func (p *Policy) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	err := ctx.Err()
	if err == nil {
		r := p.read(s) // 1. present workers
		if err = r.plan(ctx); err == nil {
			p.keep(&r.demands)
			return r.Plan(), nil
		}
	}
	return nil, fmt.Errorf("lyra: round %d: %w", s.Round, err)
}

const passes = 3

func (p *placer) plan(ctx context.Context) error {
	loans := &borrower{demands: &p.demands}
	if err := loans.reclaim(); err != nil { // 2. servers to return (§4)
		return err
	}
	(&ageing{p}).serveLate() // 3. jobs that have waited too long
	shares := &sharing{&p.demands, make([]float64, len(p.types))}
	for range passes {
		if err := shares.allocate(ctx); err != nil { // 4. workers of each job (§5.2)
			return err
		}
		if p.placeBases() { // 5. their nodes (§5.3)
			break
		}
	}
	p.placeFlexible()
	loans.borrow()                             // 6. servers to borrow
	(&writer{&p.demands}).write(shares.prices) // 7. the plan, with reasons
	return nil
}

func (p *Policy) keep(r *demands) {
	for _, t := range r.tenants {
		if t.elastic() && len(t.base) > 0 {
			p.bases[t.ID] = base{t.base, r.s.Round}
		}
	}
	for id, b := range p.bases {
		if b.seen != r.s.Round {
			delete(p.bases, id)
		}
	}
	for at, c := range p.curves {
		if c.seen != r.s.Round {
			delete(p.curves, at)
		}
	}
}

// Remember lets m save or restore the state that p keeps between rounds, without caches.
func (p *Policy) Remember(m *memory.Codec) {
	memory.Map(m, &p.bases, func(b *base, m *memory.Codec) { m.Fields(&b.on, &b.seen) })
}
