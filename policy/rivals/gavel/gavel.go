package gavel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
)

// A Policy shares GPUs out in time. It keeps an account of every job: the time that it is to
// have and the time that it had. Make one with New. It is not safe for concurrent use.
type Policy struct {
	o        Options
	accounts map[job.ID]*account
	active   []*account // of this round, by submission
	types    []cluster.GPUType
	free     []int // GPUs by type that are to be shared out
	moved    bool  // GPUs came or went since the last round
	stale    bool  // jobs or throughputs changed since the fractions were found
	solved   time.Time
	fresh    bool      // at most one solution was found: PublicCode does not wait for Reset yet
	planned  time.Time // of the last round; zero: none
	outcome  solution
	rounds   int
	turned   time.Time // when the last turn began; zero: none did
	given    []float64 // by type: seconds that all jobs had, of SiaCode
}

// New returns a Policy, or an error that joins all complaints about o.
func New(o Options) (*Policy, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("gavel: %w", err)
	}
	if o.Rules == PublicCode && o.Public == nil {
		return nil, errors.New("gavel: rules public-code, want paper or sia-code in this program: it lacks the solver of the public code")
	}
	return &Policy{o: o, accounts: map[job.ID]*account{}, fresh: true}, nil
}

// Traits implements policy.Policy.
func (*Policy) Traits() policy.Traits {
	return policy.Traits{Models: true}
}

// Plan implements policy.Policy.
func (p *Policy) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("gavel: round %d: %w", s.Round, err)
	}
	r := grant.NewRound(s) // 1. what may not be taken from anyone
	p.meet(s, r)           // 2. who shares the rest
	p.settle(s)            // 3. what each had of the last round
	begins := p.begins(s)
	if p.due(s, begins) { // 4. what each is to have
		if p.o.Rules == PublicCode {
			publicRules{p}.restart(s)
		}
		p.solve(s)
	}
	p.serve(s, r, begins) // 5. who runs in this round
	plan := r.Plan()
	reasons{p}.explain(s, r, plan)
	p.planned = s.Now
	p.rounds++
	return plan, nil
}

// meet opens and closes accounts, and reads what is believed of the jobs.
func (p *Policy) meet(s *policy.Snapshot, r *grant.Round) {
	p.count(s, r)
	before := len(p.active)
	p.active = p.active[:0]
	for i, j := range s.Jobs {
		if r.Decided(i) {
			continue
		}
		a := p.accounts[j.ID]
		if a == nil {
			a = newAccount(len(p.types), s.Length.Seconds()/2)
			p.accounts[j.ID], p.stale = a, true
			publicRules{p}.welcome(a)
		}
		a.index, a.seen = i, p.rounds
		if p.read(a, j, r) && p.o.Rules != PublicCode {
			p.stale = true
		}
		if a.done = j.Progress; p.o.Rules == Paper {
			a.done = j.Done(s.Now)
		}
		p.active = append(p.active, a)
	}
	if len(p.active) != before {
		p.stale = true // a job left, even if none came
	}
	for id, a := range p.accounts {
		if a.seen != p.rounds {
			delete(p.accounts, id)
		}
	}
}

// count counts the GPUs to be shared out. Accounts are by GPU type: with other
// types there are other accounts.
func (p *Policy) count(s *policy.Snapshot, r *grant.Round) {
	types := s.Cluster.Types()
	same := slices.EqualFunc(p.types, types, func(t cluster.GPUType, info cluster.TypeInfo) bool { return t == info.Type })
	if !same {
		p.types = p.types[:0]
		for t := range types {
			p.types = append(p.types, types[t].Type)
		}
		clear(p.accounts)
		p.given = nil
	}
	free := r.FreeByType()
	p.moved = !same || !slices.Equal(p.free, free)
	p.stale = p.stale || p.moved
	p.free = free
}

// due reports whether fractions are to be found anew. Source: Gavel §5; for
// PublicCode, Gavel simulator.
func (p *Policy) due(s *policy.Snapshot, begins bool) bool {
	if !p.stale || len(p.active) == 0 {
		return false
	}
	if p.o.Rules != PublicCode {
		return begins || p.moved
	}
	return p.fresh || s.Now.Sub(p.solved) >= p.o.Reset
}
