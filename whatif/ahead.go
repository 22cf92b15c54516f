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

// Options say which run is simulated.
type Options struct {
	// Fresh makes the run's policy and placer anew.
	Fresh func() (policy.Policy, placement.Placer, error)
	// Scheduler are the run's options; Round is taken from the snapshot. First is the time
	// until its next round, 0: one round.
	Scheduler scheduler.Options
	// Measured is what a Learner says of jobs; of those missing, models are believed.
	Measured map[job.ID]Measured
	// Spread is the relative error that models have: in the early case jobs are (1 + Spread)
	// times as fast as believed, in the late case as many times as slow. See Learner.Spread.
	Spread float64
	// Between is the time between submissions in the late case: others like the jobs there
	// are, in turn, come on. 0: nobody comes.
	Between time.Duration
	// Rounds bounds each simulation: nothing is known of what comes after so many.
	Rounds int
	// ActionsAlone lets Replay compare what was done, and not why: policies of other versions
	// give other reasons, prices and stats. Default false: everything is compared.
	ActionsAlone bool
}

// DefaultOptions returns the options of a run by its policy: thesis settings, an error of a
// quarter, and 2000 rounds.
func DefaultOptions(fresh func() (policy.Policy, placement.Placer, error)) Options {
	return Options{Fresh: fresh, Scheduler: scheduler.DefaultOptions(), Spread: unmeasured, Rounds: 2000}
}

// Validate returns an error that joins all complaints about o.
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
	NoSpeed      // its speed, or that on the GPUs it would get, is not measured yet
	Beyond       // it does not happen in the rounds that are simulated
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

// A Range is when something happens, from now: Early <= Likely <= Late. Likely is by the
// models as they are believed.
type Range struct {
	Early, Likely, Late time.Duration
	// Open: in the late case it does not happen in the rounds that are simulated; Late is
	// how far these go.
	Open bool
	Why  Why // if it is not Known, the times are zero
}

// An ETA is when a job gets GPUs, at once if it has some, and when it is complete.
type ETA struct {
	Job        job.ID
	Start, End Range
}

// Ahead simulates the state of a snapshot forward three times, with models as believed and
// with models that are wrong by Spread, and returns what becomes of each job, in the order
// of the snapshot. It changes nothing, and is a function of its arguments. Jobs without
// target or without measured speed are there, and hold what they get to the end.
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

// span returns the range of times, negative where they are not known; order is by time,
// because a slower world may do better by a job.
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
