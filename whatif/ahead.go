package whatif

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/placement"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// Options configure what is simulated.
type Options struct {
	// Fresh returns a new policy and placer, of the same kind and options as the run's.
	Fresh func() (policy.Policy, placement.Placer, error)
	// Scheduler are the run's options; Round is taken from the snapshot. First is the time
	// until the next round; 0: one round.
	Scheduler scheduler.Options
	// Measured is what Learner.Measured returns. Jobs that it lacks train as their models say.
	Measured map[job.ID]Measured
	// Spread is the relative error that models have: in the early case jobs are (1 + Spread)
	// times as fast as believed, in the late case as many times as slow. See Learner.Spread.
	Spread float64
	// Between is the time between submissions of new jobs in the late case. New jobs are like
	// the present ones, taken in turn. 0: no new jobs.
	Between time.Duration
	// Rounds is the number of rounds after which a simulation stops.
	Rounds int
	// ActionsAlone makes Replay compare only actions, and not reasons, prices and stats, which
	// may differ between versions of a policy. Default false: everything is compared.
	ActionsAlone bool
}

// DefaultOptions returns the options of a run by its policy: thesis settings, a spread of a
// quarter, and 2000 rounds.
func DefaultOptions(fresh func() (policy.Policy, placement.Placer, error)) Options {
	return Options{Fresh: fresh, Scheduler: scheduler.DefaultOptions(), Spread: unmeasured, Rounds: 2000}
}

// Validate returns an error that joins all that is wrong with o.
func (o *Options) Validate() error {
	var errs []error
	if o.Fresh == nil {
		errs = append(errs, errors.New("no policy, want a function that makes one"))
	}
	if !(o.Spread >= 0) || math.IsInf(o.Spread, 1) {
		errs = append(errs, fmt.Errorf("spread %v, want finite and at least 0", o.Spread))
	}
	if o.Between < 0 {
		errs = append(errs, fmt.Errorf("%v between submissions, want at least 0", o.Between))
	}
	if o.Rounds < 1 {
		errs = append(errs, fmt.Errorf("%d rounds, want at least 1", o.Rounds))
	}
	return errors.Join(errs...)
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

// A Range says in how long from now something happens: Early <= Likely <= Late. Likely is the
// time if the models are right.
type Range struct {
	Early, Likely, Late time.Duration
	// Open says that it does not happen within the simulated rounds of the early or late case;
	// Late is then the length of these rounds.
	Open bool
	Why  Why // if it is not Known, the times are zero
}

// An ETA says when a job gets GPUs and when it is complete. Start is zero for a job that has
// GPUs.
type ETA struct {
	Job        job.ID
	Start, End Range
}

// Ahead simulates the state of a snapshot forward three times: with the models as believed,
// and with models that are wrong by Spread in either direction. It returns when each job
// starts and ends, in the order of the snapshot. It changes nothing, and its result depends
// only on its arguments. Jobs without target or without measured speed take part, and never
// end.
//
// Complexity: at most three times Rounds plans of the policy.
func Ahead(ctx context.Context, s *policy.Snapshot, o Options) ([]ETA, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("whatif: %w", err)
	}
	var found [3]map[job.ID]*outcome
	for i, c := range []scenario{{factor: 1 / (1 + o.Spread)}, {factor: 1}, {factor: 1 + o.Spread, between: o.Between}} {
		var err error
		if found[i], err = c.run(ctx, s, &o); err != nil {
			return nil, fmt.Errorf("whatif: %w", err)
		}
	}
	etas := make([]ETA, len(s.Jobs))
	for i, j := range s.Jobs {
		early, likely, late := found[0][j.ID], found[1][j.ID], found[2][j.ID]
		end := time.Duration(o.Rounds) * s.Length
		etas[i] = ETA{Job: j.ID, Start: span(early.start, likely.start, late.start, end), End: span(early.end, likely.end, late.end, end)}
		if why := likely.unknown(); why != Known {
			etas[i].End = Range{Why: why}
		}
		if j.Holding() {
			etas[i].Start = Range{}
		}
	}
	return etas, nil
}

// span returns the range of the three times; a negative time is not known. It takes the least
// and largest of them, because a job may start earlier in a slower world.
func span(early, likely, late, horizon time.Duration) Range {
	if likely < 0 {
		return Range{Why: Beyond}
	}
	r := Range{Early: likely, Likely: likely, Late: likely}
	for _, t := range []time.Duration{early, late} {
		if t < 0 {
			r.Open, r.Late = true, horizon
			continue
		}
		r.Early, r.Late = min(r.Early, t), max(r.Late, t)
	}
	return r
}
