package whatif

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/calibration"
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

// A Why says why a time is not known.
type Why uint8

// The reasons why a time is not known.
const (
	Known    Why = iota
	NoTarget     // the job does not say when it is complete
	NoSpeed      // its speed, or its speed on the GPUs that it would get, is not measured yet
	Beyond       // it does not happen within the rounds that are simulated
	whys
)

var whyNames = [whys]string{"known", "no target declared", "speed not measured yet", "not in the rounds looked ahead"}

// String returns the reason in a few words.
func (w Why) String() string {
	if w >= whys {
		return "unknown"
	}
	return whyNames[w]
}

// A Guess is in how long from now something happens in the simulations.
type Guess struct {
	calibration.Guess
	// Open says that it does not happen within the simulated rounds of the one with new jobs; Late
	// is then the length of these rounds.
	Open bool
	Why  Why // if it is not Known, the times are zero
}

// A Times says when a job gets GPUs and when it is complete, by simulations. Start is zero for
// a job that has GPUs; Next is when such a job is next given others.
type Times struct {
	Job              job.ID
	Start, Next, End Guess
}

// Ahead simulates the state of a snapshot forward twice: without new jobs and with the best gradient
// statistics where none were measured, and with new jobs at the rate of the past and statistics that
// stay as they are. It returns when each job starts and ends, in the order of the snapshot. It
// changes nothing, and its result depends only on its arguments. Jobs of unknown work or speed take
// part, and never end.
//
// If ctx has a deadline, what was found until then is returned.
//
// Complexity: at most twice Rounds plans of the policy.
func Ahead(ctx context.Context, s *policy.Snapshot, o Options) ([]Times, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("whatif: %w", err)
	}
	soon, cancel := half(ctx)
	defer cancel()
	alone, _, err := scenario{best: true}.run(soon, s, &o)
	if err != nil {
		return nil, fmt.Errorf("whatif: %w", err)
	}
	pressed, end, err := scenario{between: o.Between}.run(ctx, s, &o)
	if err != nil {
		return nil, fmt.Errorf("whatif: %w", err)
	}
	all := make([]Times, len(s.Jobs))
	for i, j := range s.Jobs {
		a, b := alone[j.ID], pressed[j.ID]
		all[i] = Times{Job: j.ID, Start: guess(a.start, b.start, end), End: guess(a.end, b.end, end)}
		if why := a.unknown(); why != Known {
			all[i].End = Guess{Why: why}
		}
		if j.Holding() {
			all[i].Start, all[i].Next = Guess{}, all[i].Start
		}
	}
	return all, nil
}

// half returns a context that has half of the time left.
func half(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Until(deadline)/2)
}

// guess returns the earlier and the later of two times; a negative one did not come within the
// horizon. A job may start earlier in a world with more jobs.
func guess(alone, pressed, horizon time.Duration) Guess {
	switch {
	case alone < 0:
		return Guess{Why: Beyond}
	case pressed < 0:
		return Guess{Guess: calibration.Guess{Early: alone, Late: max(alone, horizon)}, Open: true}
	}
	return Guess{Guess: calibration.Guess{Early: min(alone, pressed), Late: max(alone, pressed)}}
}
