package gavel

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
	"github.com/oxgang/oxgang/policy/grant"
)

// A Policy is Gavel, which gives each job a fraction of the time on each GPU type.
type Policy struct {
	o           Options
	accounts    map[job.ID]*account
	active      []*account // by submission
	types       []cluster.GPUType
	free        []int // to share, by type
	gpusChanged bool
	stale       bool // jobs or throughputs changed
	solved      time.Time
	fresh       bool      // PublicCode does not wait for Reset yet
	planned     time.Time // last round; zero: none
	outcome     solution
	rounds      int
	turnStart   time.Time // start of the turn; zero: none
	allReceived []float64 // SiaCode: seconds of all jobs
}

// New returns a Policy, or all errors of o.
func New(o Options) (*Policy, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("gavel: %w", err)
	}
	if o.Rules == PublicCode && o.Public == nil {
		return nil, errors.New("gavel: rules public-code, want paper or sia-code: this program lacks the solver of the public code")
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
	r := grant.NewRound(s)
	p.meet(s, r)
	p.settle(s)
	begins := p.begins(s)
	if p.due(s, begins) {
		if p.o.Rules == PublicCode {
			publicRules{p}.restart(s)
		}
		p.solve(s)
	}
	p.serve(s, r, begins)
	plan := r.Plan()
	reasons{p}.explain(s, r, plan)
	p.planned = s.Now
	p.rounds++
	return plan, nil
}

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
		a.index, a.lastRound = i, p.rounds
		if p.read(a, j, r) && p.o.Rules != PublicCode {
			p.stale = true
		}
		if a.done = j.Progress; p.o.Rules == Paper {
			a.done = j.Done(s.Now)
		}
		p.active = append(p.active, a)
	}
	if len(p.active) != before {
		p.stale = true
	}
	for id, a := range p.accounts {
		if a.lastRound != p.rounds {
			delete(p.accounts, id)
		}
	}
}

func (p *Policy) count(s *policy.Snapshot, r *grant.Round) {
	types := s.Cluster.Types()
	same := slices.EqualFunc(p.types, types, func(t cluster.GPUType, info cluster.TypeInfo) bool { return t == info.Type })
	if !same {
		p.types = p.types[:0]
		for t := range types {
			p.types = append(p.types, types[t].Type)
		}
		clear(p.accounts)
		p.allReceived = nil
	}
	free := r.FreeByType()
	p.gpusChanged = !same || !slices.Equal(p.free, free)
	p.stale = p.stale || p.gpusChanged
	p.free = free
}

// due reports whether to solve again. Source: Gavel §5; for PublicCode, Gavel simulator.
func (p *Policy) due(s *policy.Snapshot, begins bool) bool {
	if !p.stale || len(p.active) == 0 {
		return false
	}
	if p.o.Rules != PublicCode {
		return begins || p.gpusChanged
	}
	return p.fresh || s.Now.Sub(p.solved) >= p.o.Reset
}

// Remember lets m save or restore the state that p keeps between rounds.
func (p *Policy) Remember(m *memory.Codec) {
	o, active := &p.outcome, len(p.active)
	m.Fields(&p.free, &p.gpusChanged, &p.stale, &p.solved, &p.fresh, &p.planned, &p.rounds, &p.turnStart, &p.allReceived, &active)
	m.Fields(&o.objective, &o.bound, &o.prices, &o.iterations)
	memory.Slice(m, &p.types, func(t *cluster.GPUType, m *memory.Codec) { m.Fields((*string)(t)) })
	memory.Map(m, &p.accounts, memory.To((*account).Remember))
	if m.Decoding() {
		p.active = make([]*account, active) // only their number is used
	}
}

func (a *account) Remember(m *memory.Codec) {
	memory.Shared(m, &a.row)
	m.Fields(&a.done, &a.lastRound, &a.size, &a.rate, &a.pace, &a.step, &a.x, &a.owed, &a.solved, &a.received, &a.service, &a.last, &a.before, &a.charge)
	m.Fields(&a.fair.isolated, &a.fair.rate, &a.fair.done, &a.fair.speed)
}
