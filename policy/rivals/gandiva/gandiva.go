package gandiva

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
)

// Options configure the policy. DefaultOptions has the defaults.
type Options struct {
	// Slice is the time for which jobs keep the GPUs they got. Less than a round is a
	// round. Default 1 min (Gandiva §3.1, "about a minute").
	Slice time.Duration
	// Restarts is the least length of a slice, in restarts of the jobs that are there. Default
	// 10.
	Restarts float64
	// Grow lets elastic jobs have GPUs that no other job can use. Default true (§3.3).
	Grow bool
}

// DefaultOptions returns the defaults.
func DefaultOptions() Options { return Options{Slice: time.Minute, Restarts: 10, Grow: true} }

// Validate returns an error that joins all complaints about o.
func (o *Options) Validate() error {
	var errs []error
	if o.Slice < 0 {
		errs = append(errs, fmt.Errorf("slice %v, want at least 0s", o.Slice))
	}
	if !(o.Restarts >= 0 && o.Restarts <= 1e6) {
		errs = append(errs, fmt.Errorf("restarts %v, want 0 to 1e6", o.Restarts))
	}
	return errors.Join(errs...)
}

// A Policy is Gandiva. It keeps whose turn it is. It is not safe for concurrent use. Make one
// with New.
type Policy struct {
	o     Options
	turns map[job.ID]*turn
	line  []*turn   // of this round, as they are served
	next  time.Time // when the slices end
	round int
}

// A turn is what is kept of a job.
type turn struct {
	id    job.ID
	index int       // in the snapshot of this round
	runs  bool      // as the last round had it
	since time.Time // since when it runs, or waits
	t     int       // of this round: GPU type
	gpus  int       // of this round: 0 if it waits
	seen  int       // round
}

// New returns a Policy, or an error that joins all complaints about o.
func New(o Options) (*Policy, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("gandiva: %w", err)
	}
	return &Policy{o: o, turns: map[job.ID]*turn{}}, nil
}

// Traits implements policy.Policy.
func (*Policy) Traits() policy.Traits {
	return policy.Traits{Models: true, Sizes: true}
}

// Plan implements policy.Policy. It takes time n log n in jobs, and n more for each replica
// that is lent as a slice begins. The only error is that of ctx.
//
// Deviation: jobs without checkpoints have no turns and keep what they hold, because Gandiva's
// jobs all suspend and resume.
func (p *Policy) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("gandiva: round %d: %w", s.Round, err)
	}
	r := &round{s: s, Round: grant.NewRound(s)} // 1. what may not be taken from anyone
	r.KeepUnsaved()
	r.free = r.FreeByType()
	p.meet(r)         // 2. who is there
	over := p.over(s) // 3. whose turn it is
	p.turn(over)
	p.serve(r)    // 4. gangs in that order
	if p.o.Grow { // 5. GPUs that nobody else can use
		p.regrow(r)
		if over {
			p.grow(r)
		}
	}
	p.give(r) // 6. the plan, with reasons
	return r.Plan(), nil
}
