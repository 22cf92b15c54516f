package whatif

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
	"github.com/oxgang/oxgang/scheduler"
)

// Options configure what is simulated.
type Options struct {
	// Fresh returns a new policy and placer, of the same kind and options as the run's.
	Fresh func() (policy.Policy, placement.Placer, error)
	// Decided, if not nil, returns who decides from a round on; Plan is what was decided in the round of the snapshot.
	// A policy that goes by earlier rounds would decide otherwise if it had seen none. Default nil: who Fresh makes
	// decides, as it does if Decided returns an error.
	Decided Decided
	Plan    *policy.Plan
	// Scheduler are the run's options; Round is taken from the snapshot. First is the time
	// until the next round; 0: one round.
	Scheduler scheduler.Options
	// Measured is what Learner.Measured returns. Jobs that it lacks train as their models say.
	Measured map[job.ID]Measured
	// Between is the time between submissions of new jobs in the second simulation, as Learner.Between expects it. New jobs are
	// like the present ones, taken in turn. 0: no new jobs, and so no second simulation.
	Between time.Duration
	// Rounds is the number of rounds after which a simulation stops; fewer if there are so many
	// jobs that it would cost more than a few seconds.
	Rounds int
	// Coarse is the share of the time that is looked ahead by which a round may be longer while no job comes or ends,
	// so that a look costs fewer plans. Default 0: all rounds have the length of the run's.
	Coarse float64
	// Awaited are the jobs with whose starts and ends a simulation ends. Default nil: all.
	Awaited []job.ID
	// ActionsAlone makes Replay compare only actions, and not reasons, prices and stats, which
	// may differ between versions of a policy. Default false: everything is compared.
	ActionsAlone bool

	rows *int // counts the rows of all snapshots that are planned; nil: nobody counts
}

// DefaultOptions returns the options of a run by its policy: thesis settings, and 20,000 rounds.
func DefaultOptions(fresh func() (policy.Policy, placement.Placer, error)) Options {
	return Options{Fresh: fresh, Scheduler: scheduler.DefaultOptions(), Rounds: 20_000}
}

// Validate returns an error that joins all that is wrong with o.
func (o *Options) Validate() error {
	var errs []error
	if o.Fresh == nil {
		errs = append(errs, errors.New("no policy, want a function that makes one"))
	}
	if o.Between < 0 {
		errs = append(errs, fmt.Errorf("%v between submissions, want at least 0", o.Between))
	}
	if o.Coarse < 0 || o.Coarse > 1 {
		errs = append(errs, fmt.Errorf("rounds longer by %v of the time, want 0 to 1", o.Coarse))
	}
	if o.Rounds < 1 {
		errs = append(errs, fmt.Errorf("%d rounds, want at least 1", o.Rounds))
	}
	return errors.Join(errs...)
}

// awaits reports whether a simulation goes on until a job has started and ended.
func (o *Options) awaits(id job.ID) bool {
	return len(o.Awaited) == 0 || slices.Contains(o.Awaited, id)
}
