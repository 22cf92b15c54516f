package shockwave

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/opt/multimode"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
)

// A Policy is Shockwave, which plans several rounds ahead (Options.Window) which jobs run in each round.
type Policy struct {
	o              Options
	accounts       map[job.ID]*account
	active         []*account // in this round, by submission
	cluster        *cluster.Cluster
	types          []cluster.GPUType
	free           []int // GPUs to share, by type; never modified in place
	configurations []cluster.Configuration
	window         *window // nil: none yet
	failed         string
}

// New returns a Policy, or all errors in o, joined.
func New(o Options) (*Policy, error) {
	if err := o.validate(); err != nil {
		return nil, fmt.Errorf("shockwave: %w", err)
	}
	return &Policy{o: o, accounts: map[job.ID]*account{}}, nil
}

// Traits implements policy.Policy.
func (*Policy) Traits() policy.Traits {
	return policy.Traits{Models: true, Sizes: true}
}

// Plan implements policy.Policy.
func (p *Policy) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("shockwave: round %d: %w", s.Round, err)
	}
	r := grant.NewRound(s) // 1. fixed decisions
	p.update(s, r)         // 2. forecasts of all other jobs
	p.accept(s)            // 3. the window that was planned meanwhile
	p.serve(s, r)          // 4. jobs of this round
	plan := r.Plan()
	p.explain(s, r, plan)
	if p.outdated(s) { // 5. plan from the next round on
		plan.Background = p.plan(s, plan)
	}
	return plan, nil
}

func (p *Policy) count(s *policy.Snapshot, r *grant.Round) (moved bool) {
	free, types := r.FreeByType(), []cluster.GPUType{}
	for _, t := range s.Cluster.Types() {
		types = append(types, t.Type)
	}
	if s.Cluster != p.cluster {
		p.configurations = nil
	}
	moved = s.Cluster != p.cluster || !slices.Equal(free, p.free)
	p.cluster, p.free, p.types = s.Cluster, free, types
	return moved
}

func (p *Policy) accept(s *policy.Snapshot) {
	switch found := s.Computed.(type) {
	case *window:
		p.window, p.failed = found, ""
	case error:
		p.failed = found.Error()
	}
}

// outdated reports whether the window no longer fits the jobs and GPUs. Source: Shockwave §6.1, §7.
func (p *Policy) outdated(s *policy.Snapshot) bool {
	w := p.window
	if w == nil || w.over(s.Round+1) || !slices.Equal(w.free, p.free) || !slices.Equal(w.types, p.types) {
		return true
	}
	here := 0
	for _, a := range p.active {
		if len(a.options) == 0 {
			continue
		}
		batch, planned := w.batches[a.row.ID]
		if !planned || batch != a.batch && !p.o.Lazy {
			return true
		}
		here++
	}
	return here != len(w.batches)
}

// Options configure Shockwave.
type Options struct {
	Window int     // number of rounds planned ahead; default 20 (§6.1)
	K      float64 // exponent of finish-time fairness in weights; default 5 (§6.1)
	Lambda float64 // weight of the makespan; default 1 (App. G.2)
	Paper  bool    // ρ̂, weights and utility as in the paper; default false: see the package comment
	Rule   Rule    // how regimes are predicted; default Restatement (§5)
	Lazy   bool    // do not replan when a batch size changes; default false (§7)
	// Accordion is the largest number of regimes expected of a job whose batch size follows Accordion and whose
	// user names no batch sizes. Default 2: one increase, as measured.
	Accordion int
	// Error adds a random error to the predicted run time of each job, for experiments (§8.10). It is the largest
	// relative error. Default 0.
	Error float64
	Seed  uint64 // seed for the random numbers of Error
	Solve multimode.Options
}

// DefaultOptions returns the default settings.
func DefaultOptions() Options {
	return Options{Window: 20, K: 5, Lambda: 1, Accordion: 2, Solve: multimode.DefaultOptions()}
}

func (o *Options) validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if o.Window < 1 || o.Window > multimode.MaxRounds {
		bad("window %d, want 1 to %d rounds", o.Window, multimode.MaxRounds)
	}
	if !(o.K >= 0 && o.K <= 20) {
		bad("k %v, want 0 to 20", o.K)
	}
	if !(o.Lambda >= 0 && o.Lambda <= 1e9) {
		bad("lambda %v, want 0 to 1e9", o.Lambda)
	}
	if o.Rule > Greedy {
		bad("rule %d, want at most %d", o.Rule, Greedy)
	}
	if o.Accordion < 1 || o.Accordion > 1000 {
		bad("accordion %d, want 1 to 1000 regimes", o.Accordion)
	}
	if !(o.Error >= 0 && o.Error <= 1) {
		bad("error %v, want 0 to 1", o.Error)
	}
	return errors.Join(append(errs, o.Solve.Validate())...)
}

// Remember lets m save or restore the state that p keeps between rounds.
func (p *Policy) Remember(m *memory.Codec) {
	memory.Shared(m, &p.cluster)
	m.Fields(&p.free, &p.failed)
	memory.Map(m, &p.accounts, memory.To((*account).Remember))
	memory.Once(m, &p.window, (*window).Remember)
}

func (a *account) Remember(m *memory.Codec) {
	memory.Shared(m, &a.row)
	memory.Pointer(m, &a.predictor, (*Predictor).Remember)
	m.Fields(&a.lastRound, &a.unpredictable, &a.batch, &a.epochs, &a.contention, &a.updated, &a.skew, &a.expectation)
}

func (e *expectation) Remember(m *memory.Codec) {
	memory.Slice(m, &e.options, func(o *option, m *memory.Codec) {
		m.Fields(&o.typeIndex, &o.Configuration)
		memory.Slice(m, (*[]stretch)(&o.ahead), func(s *stretch, m *memory.Codec) { m.Fields(&s.progress, &s.rate) })
	})
	m.Fields(&e.guessed, &e.total, &e.done, &e.past, &e.start, &e.alone, &e.fastest, &e.leanest)
}

func (w *window) Remember(m *memory.Codec) {
	m.Fields(&w.first, &w.rounds, &w.free)
	memory.Slice(m, &w.types, func(t *cluster.GPUType, m *memory.Codec) { m.Fields((*string)(t)) })
	memory.Map(m, &w.batches, memory.Number)
	memory.Map(m, &w.runs, func(r *run, m *memory.Codec) { m.Fields(&r.Configuration, &r.Mode, &r.Rounds) })
	memory.Pointer(m, &w.solved, (*multimode.Schedule).Remember)
}
