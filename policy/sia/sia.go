package sia

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/opt/engine"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/goodput"
)

// A Policy is Sia. It caches goodputs and GPU prices between rounds.
type Policy struct {
	o       Options
	program *goodput.Program
}

// New returns a Policy, or all errors in o, joined.
func New(o Options) (*Policy, error) {
	if err := o.validate(); err != nil {
		return nil, fmt.Errorf("sia: %w", err)
	}
	program, err := goodput.New(o.Options)
	if err != nil {
		return nil, fmt.Errorf("sia: %w", err)
	}
	return &Policy{o: o, program: program}, nil
}

// Traits implements policy.Policy.
func (*Policy) Traits() policy.Traits {
	return policy.Traits{Models: true, Sizes: true}
}

// Plan implements policy.Policy.
func (p *Policy) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	plan, err := p.program.Plan(ctx, s, p.value(s))
	if err != nil {
		return nil, fmt.Errorf("sia: %w", err)
	}
	return plan, nil
}

// value sets the worth of each job: λ and rᵢ, with equal weights. Source: Sia §3.3.4, Eq. 3.3 and 3.4.
func (p *Policy) value(s *policy.Snapshot) func([]*goodput.Row) {
	return func(rows []*goodput.Row) {
		for _, r := range rows {
			r.Worth = goodput.Worth{Weight: 1, Base: p.o.Lambda, Factor: p.restartFactor(r.Job(), s.Now)}
		}
	}
}

// Solvers of the allocation program; engine.Names lists all solvers.
const (
	Price = "price" // prices GPUs, then searches by branch and bound
	Exact = "exact" // the solver HiGHS
)

// Options configure Sia.
type Options struct {
	goodput.Options         // P -0.5 (§3.3.4), Growth 2 (§3.3.1), Solver Price and Cells by default
	Lambda          float64 // λ: penalty for giving a job nothing; default 1.1 (§3.4.3)
	FreeYoung       bool    // no restart factor while a job is younger than a restart takes
}

// DefaultOptions returns the settings of the thesis.
func DefaultOptions() Options {
	return Options{Options: goodput.Options{P: -0.5, Growth: 2, Cells: true, Solver: Price}, Lambda: 1.1}
}

// PublicCode selects the rules of Sia's published simulator.
func (o *Options) PublicCode() {
	o.Rules = goodput.Rules{RoundCosts: true, ValidMinimum: true, HistoricGrowth: true}
	o.FreeYoung = true
}

func solvers() []string { return engine.Names() }

func (o *Options) validate() error {
	err := o.Options.Validate()
	if !(o.Lambda > 0) || math.IsInf(o.Lambda, 0) {
		err = errors.Join(err, fmt.Errorf("lambda %v, want more than 0", o.Lambda))
	}
	return err
}

// Remember lets m save or restore the state that p keeps between rounds.
func (p *Policy) Remember(m *memory.Codec) { m.Fields(p.program) }

// restartFactor returns the factor that discounts a job's goodput in configurations for which it must restart. For
// a job of age T with N restarts of S each, it is (T − N·S) / (T + S), clamped to [0, 1]; 0 if T ≤ 0. Source: Sia
// §3.3.4, Eq. 3.3.
//
// Example: after 1 h with 2 restarts of 3 min each it is (60−6)/(60+3) = 0.86. So the job moves only if its
// goodput becomes at least 1/0.86 = 1.17 times as high. A job that has restarted often is thus less likely to
// move.
func restartFactor(age time.Duration, restarts int, overhead time.Duration) float64 {
	if age <= 0 {
		return 0
	}
	t, s := age.Seconds(), overhead.Seconds()
	return min(1, max(0, (t-float64(restarts)*s)/(t+s)))
}

func (p *Policy) restartFactor(j *policy.Job, now time.Time) float64 {
	if !j.Holding() || p.o.FreeYoung && j.Age(now) < j.RestartOverhead {
		return 1
	}
	return restartFactor(j.Age(now), j.Restarts, j.RestartOverhead)
}
