package lyra

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/lyra/allocate"
	"github.com/oxgang/oxgang/policy/reclaim"
)

// Options configure the policy. DefaultOptions has the defaults.
type Options struct {
	Allocate allocate.Options
	Reclaim  reclaim.Options
	// Loan says what runs on servers on loan. Default Borrow.
	Loan Loan
	// Patience is the time after which a job that waits goes first, so that shorter ones do not
	// pass it for ever. 0: never, as in the paper. Default four days, because a patience of one
	// day costs more than it gains (docs/experiments/lyra.md).
	Patience time.Duration
	// Group keeps base and flexible workers on servers of their own. Default true (Lyra §5.3);
	// without it Table 6.
	Group bool
	// Foresee keeps jobs off servers on loan that will be asked back before they end, and those
	// that end late together. Default true; not in Lyra.
	Foresee bool
}

// A Loan says what runs on servers on loan.
type Loan string

// The ways to use them.
const (
	Borrow      Loan = "loan"        // Lyra: jobs that may run there, beside training servers
	Opportunity Loan = "opportunity" // §7.1: jobs that may run there run nowhere else
	NoLoan      Loan = "none"        // nothing is borrowed
)

// DefaultOptions returns the defaults.
func DefaultOptions() Options {
	return Options{
		Allocate: allocate.DefaultOptions(), Reclaim: reclaim.DefaultOptions(),
		Loan: Borrow, Patience: 96 * time.Hour, Group: true, Foresee: true,
	}
}

// Validate returns an error that joins all complaints about o.
func (o *Options) Validate() error {
	errs := []error{o.Allocate.Validate(), o.Reclaim.Validate()}
	if !slices.Contains([]Loan{Borrow, Opportunity, NoLoan}, o.Loan) {
		errs = append(errs, fmt.Errorf("loan %q, want %s, %s or %s", o.Loan, Borrow, Opportunity, NoLoan))
	}
	if o.Patience < 0 {
		errs = append(errs, fmt.Errorf("patience %v, want at least 0", o.Patience))
	}
	return errors.Join(errs...)
}

// A Policy is Lyra. It keeps which workers of elastic jobs are their base demand. It is not
// safe for concurrent use. Make one with New.
type Policy struct {
	o     Options
	bases map[job.ID]base
	// curves are the speeds that were looked up, of the jobs of the last round.
	curves map[place]*curve

	allocator allocate.Allocator
	jobs      []allocate.Job // memory of rounds
	last      []*tenant      // of the last round, in its order
	spare     []*tenant      // memory for the next
	at        int            // how far last is read
	layout    layout
}

// A base is where the base demand of an elastic job is.
type base struct {
	on   cluster.Placement
	seen int // round
}

// New returns a Policy, or an error that joins all complaints about o.
func New(o Options) (*Policy, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("lyra: %w", err)
	}
	return &Policy{o: o, bases: make(map[job.ID]base), curves: make(map[place]*curve)}, nil
}

// Traits implements policy.Policy.
func (*Policy) Traits() policy.Traits {
	return policy.Traits{Models: true, Sizes: true, Borrows: true}
}

// Plan implements policy.Policy. Errors: that of ctx, and of what no snapshot should have.
func (p *Policy) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	err := ctx.Err()
	if err == nil {
		r := p.read(s) // 1. who is where
		if err = r.plan(ctx); err == nil {
			p.keep(&r.demands)
			return r.Plan(), nil
		}
	}
	return nil, fmt.Errorf("lyra: round %d: %w", s.Round, err)
}

// passes is how often GPUs are shared out in a round at most. They are shared out once more if
// a job was granted its base demand and no servers had room for its workers, so that other jobs
// get these GPUs.
const passes = 3

// plan decides.
func (p *placer) plan(ctx context.Context) error {
	loans := &borrower{demands: &p.demands}
	if err := loans.reclaim(); err != nil { // 2. servers that go back (§4)
		return err
	}
	(&ageing{p}).serveLate() // 3. who has waited too long
	shares := &sharing{&p.demands, make([]float64, len(p.types))}
	for range passes {
		if err := shares.allocate(ctx); err != nil { // 4. how many workers each job gets (§5.2)
			return err
		}
		if p.placeBases() { // 5. where they go (§5.3)
			break
		}
	}
	p.placeFlexible()
	loans.borrow()                             // 6. what comes on loan
	(&writer{&p.demands}).write(shares.prices) // 7. the plan, with reasons
	return nil
}

// keep notes where base demands are.
func (p *Policy) keep(r *demands) {
	for _, t := range r.tenants {
		if t.elastic() && len(t.base) > 0 {
			p.bases[t.ID] = base{t.base, r.s.Round}
		}
	}
	for id, b := range p.bases { // each for itself: the order does not matter
		if b.seen != r.s.Round {
			delete(p.bases, id)
		}
	}
	for at, c := range p.curves { // likewise
		if c.seen != r.s.Round {
			delete(p.curves, at)
		}
	}
}
