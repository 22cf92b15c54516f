package gandiva

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
)

// Options configure Gandiva.
type Options struct {
	// Slice is how long jobs keep their GPUs; at least a round. Default 1 min (Gandiva §3.1).
	Slice time.Duration
	// Restarts is the minimum length of a slice, in mean restart times. Default 10.
	Restarts float64
	// Grow lets elastic jobs use GPUs that no other job can use. Default true (§3.3).
	Grow bool
}

// DefaultOptions returns the default settings.
func DefaultOptions() Options { return Options{Slice: time.Minute, Restarts: 10, Grow: true} }

func (o *Options) validate() error {
	var errs []error
	if o.Slice < 0 {
		errs = append(errs, fmt.Errorf("slice %v, want at least 0s", o.Slice))
	}
	if !(o.Restarts >= 0 && o.Restarts <= 1e6) {
		errs = append(errs, fmt.Errorf("restarts %v, want 0 to 1e6", o.Restarts))
	}
	return errors.Join(errs...)
}

// A Policy is Gandiva, in which jobs take turns on the GPUs in slices of time.
type Policy struct {
	o     Options
	turns map[job.ID]*turn
	line  []*turn
	next  time.Time // end of the slices
	round int
}

type turn struct {
	id        job.ID
	index     int
	runs      bool      // in the last round
	since     time.Time // of its run or wait
	t         int       // this round
	gpus      int       // this round
	lastRound int
}

// New returns a Policy, or all errors of o.
func New(o Options) (*Policy, error) {
	if err := o.validate(); err != nil {
		return nil, fmt.Errorf("gandiva: %w", err)
	}
	return &Policy{o: o, turns: map[job.ID]*turn{}}, nil
}

// Traits implements policy.Policy.
func (*Policy) Traits() policy.Traits {
	return policy.Traits{Models: true, Sizes: true}
}

// Plan implements policy.Policy. For n jobs it takes time O(n log n), plus O(n) for each added replica.
//
// Deviation: jobs without checkpoints keep their GPUs and take no turns, because all jobs of Gandiva can suspend and
// resume.
func (p *Policy) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("gandiva: round %d: %w", s.Round, err)
	}
	r := &round{s: s, Round: grant.NewRound(s)}
	r.KeepUnsaved()
	r.free = r.FreeByType()
	p.meet(r)
	over := p.over(s)
	p.turn(over)
	p.serve(r)
	if p.o.Grow {
		p.regrow(r)
		if over {
			p.grow(r)
		}
	}
	p.give(r)
	return r.Plan(), nil
}

// Remember lets m save or restore the state that p keeps between rounds.
func (p *Policy) Remember(m *memory.Codec) {
	m.Fields(&p.next, &p.round)
	memory.Slice(m, &p.line, memory.To((*turn).Remember))
	if m.Decoding() {
		p.turns = make(map[job.ID]*turn, len(p.line))
		for _, t := range p.line {
			p.turns[t.id] = t
		}
	}
}

func (t *turn) Remember(m *memory.Codec) { m.Fields((*string)(&t.id), &t.runs, &t.since, &t.lastRound) }
