package shockwave

import (
	"errors"
	"fmt"

	"github.com/oxgang/oxgang/opt/multimode"
)

// Options configure the policy. DefaultOptions has the defaults.
type Options struct {
	Window int     // rounds planned ahead; default 20 (§6.1)
	K      float64 // power of a job's finish-time fairness in its weight; default 5 (§6.1)
	Lambda float64 // weight of the makespan; default 1 (App. G.2)
	Paper  bool    // ρ̂, weights and utility as the paper has them; default false: see doc.go
	Rule   Rule    // of the prediction of regimes; default Restatement (§5)
	Lazy   bool    // a batch size that changes is no reason to plan anew; default false (§7)
	// Accordion is how many regimes a job under Accordion is expected to have at most if
	// its user does not name its batch sizes. Default 2: up once, as measured jobs do.
	Accordion int
	// Error is by how much, relatively, predicted run times are made wrong, at random for
	// each job, for experiments (§8.10). Default 0.
	Error float64
	Seed  uint64 // of Error
	Solve multimode.Options
}

// DefaultOptions returns the defaults.
func DefaultOptions() Options {
	return Options{Window: 20, K: 5, Lambda: 1, Accordion: 2, Solve: multimode.DefaultOptions()}
}

// Validate returns an error that joins all complaints about o.
func (o *Options) Validate() error {
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
