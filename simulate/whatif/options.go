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

// Options configure the simulation of a recorded or running scheduler.
type Options struct {
	// Fresh returns a new policy and placer, of the same kind and options as the run's.
	Fresh func() (policy.Policy, placement.Placer, error)
	// Decided, if not nil, returns the policy and placer in their state after a round; Plan is then the plan of
	// that round. If it is nil, Fresh makes them.
	Decided Decided
	Plan    *policy.Plan
	// Scheduler are the run's options; Round is taken from the snapshot. First is the time until the next
	// round; 0: one round.
	Scheduler scheduler.Options
	// Measured is the result of Learner.Measured. Jobs that it lacks train as their models predict.
	Measured map[job.ID]Measured
	// Between is the time between submissions in the second simulation, whose new jobs copy the present ones in
	// turn. 0: no second simulation.
	Between time.Duration
	// Rounds is the maximum number of simulated rounds; many jobs lower it, so that a simulation takes at most a
	// few seconds.
	Rounds int
	// Coarse saves plans: while no job is submitted or ends, a round may be longer by this fraction of the time
	// since the start of the simulation.
	Coarse float64
	// Awaited are the jobs after whose starts and ends the simulation stops. Default nil: all jobs.
	Awaited []job.ID
	// ActionsAlone makes Replay compare only actions, because reasons, prices and statistics may differ between
	// versions of a policy. Default false.
	ActionsAlone bool

	rows *int // counts the rows of all planned snapshots; may be nil
}

// DefaultOptions returns options with the round length and restart times of the Sia thesis, and at most 20,000 rounds.
// Each simulation calls fresh for a new policy and placer.
func DefaultOptions(fresh func() (policy.Policy, placement.Placer, error)) Options {
	return Options{Fresh: fresh, Scheduler: scheduler.DefaultOptions(), Rounds: 20_000}
}

func (o *Options) validate() error {
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

func (o *Options) awaits(id job.ID) bool {
	return len(o.Awaited) == 0 || slices.Contains(o.Awaited, id)
}
