package shockwave

import (
	"errors"
	"fmt"

	"github.com/oxgang/oxgang/opt/multimode"
)

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

// Validate returns all errors in o, joined.
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
