package whatif

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler/calibration"
)

// A Why is the reason why a time cannot be predicted.
type Why uint8

// The reasons why a time is not known.
const (
	Known Why = iota
	NoTarget
	NoSpeed // the job's speed on its present or future GPUs is not measured yet
	Beyond  // the start or end comes after the simulated rounds
	TooLong // the simulation was stopped before, because it would take too long
	whys
)

var whyNames = [whys]string{"known", "no target declared", "speed not measured yet", "it is later than the prediction reaches", "the prediction took too long and was stopped"}

func (w Why) String() string {
	if w >= whys {
		return "unknown"
	}
	return whyNames[w]
}

// A Guess is the predicted time until something happens to a job, from the two simulations of Ahead.
type Guess struct {
	calibration.Guess
	// Open: the second simulation (with new jobs) ended before it happened; Late is the length of that simulation.
	Open bool
	Why  Why // reason why the times are zero, unless Known
	// By is the time by which the policy promises it; 0: no promise.
	By time.Duration
}

// Times predict when a job gets GPUs and when it completes. If the job has GPUs, Start is zero and Next is when it gets
// other GPUs.
type Times struct {
	Job              job.ID
	Start, Next, End Guess
}

// Ahead predicts when each job starts and ends, in the order of snapshot s, by two simulations. The first has no new
// jobs, and assumes the best gradient statistics where none were measured. The second has new jobs at the past rate,
// and constant statistics. Jobs with unknown work or speed take part, and never end.
//
// If ctx has a deadline, Ahead returns what it has found by then. It makes at most twice o.Rounds plans. If the policy
// promises the start of a job (policy.Promiser), the Guess has the promised time.
func Ahead(ctx context.Context, s *policy.Snapshot, o Options) ([]Times, error) {
	all, _, err := ahead(ctx, s, o)
	return all, err
}

// ahead is Ahead, and returns the outcomes of the second simulation, too: its statistics are the present ones.
func ahead(ctx context.Context, s *policy.Snapshot, o Options) ([]Times, map[job.ID]*outcome, error) {
	if err := o.validate(); err != nil {
		return nil, nil, fmt.Errorf("whatif: %w", err)
	}
	soon, cancel := half(ctx)
	defer cancel()
	alone, err := scenario{best: true}.run(soon, s, &o)
	if err != nil {
		return nil, nil, fmt.Errorf("whatif: %w", err)
	}
	if alone.lacks(o.Awaited) {
		return alone.unseen(s), alone.outcomes, nil
	}
	pressed, err := scenario{between: o.Between}.run(ctx, s, &o)
	if err != nil {
		return nil, nil, fmt.Errorf("whatif: %w", err)
	}
	all := make([]Times, len(s.Jobs))
	for i, j := range s.Jobs {
		a, b := alone.outcomes[j.ID], pressed.outcomes[j.ID]
		all[i] = Times{Job: j.ID, Start: alone.guess(a.start, b.start, pressed.length), End: alone.guess(a.end, b.end, pressed.length)}
		if why := alone.unknown(a); why != Known {
			all[i].End = Guess{Why: why}
		}
		if by, ok := alone.promised[j.ID]; ok && !j.Holding() {
			all[i].Start = alone.reserved(all[i].Start, by.Sub(s.Now))
		}
		if j.Holding() {
			all[i].Start, all[i].Next = Guess{}, all[i].Start
		}
	}
	return all, pressed.outcomes, nil
}

func half(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Until(deadline)/2)
}

type future struct {
	outcomes map[job.ID]*outcome
	length   time.Duration // simulated
	rest     Why           // why the other times are not known
	promised map[job.ID]time.Time
}

func (f *future) lacks(jobs []job.ID) bool {
	return len(jobs) > 0 && !slices.ContainsFunc(jobs, func(id job.ID) bool {
		o := f.outcomes[id]
		return o != nil && (o.start >= 0 || o.end >= 0)
	})
}

func (f *future) unseen(s *policy.Snapshot) []Times {
	all := make([]Times, len(s.Jobs))
	for i, j := range s.Jobs {
		unknown := Guess{Why: f.rest}
		all[i] = Times{Job: j.ID, Start: unknown, End: unknown}
		if why := f.unknown(f.outcomes[j.ID]); why != Known {
			all[i].End.Why = why
		}
		if by, ok := f.promised[j.ID]; ok && !j.Holding() {
			all[i].Start = f.reserved(unknown, by.Sub(s.Now))
		}
		if j.Holding() {
			all[i].Start, all[i].Next = Guess{}, unknown
		}
	}
	return all
}

// guess returns the earlier and the later of two times; a negative one was not reached in the simulations. f is
// the simulation without new jobs, and pressed the length of the other.
func (f *future) guess(alone, with, pressed time.Duration) Guess {
	switch {
	case alone < 0:
		return Guess{Why: f.rest}
	case with < 0:
		return Guess{Guess: calibration.Guess{Early: alone, Late: max(alone, pressed)}, Open: true}
	}
	return Guess{Guess: calibration.Guess{Early: min(alone, with), Late: max(alone, with)}}
}

func (f *future) reserved(g Guess, by time.Duration) Guess {
	if g.Why != Known {
		g = Guess{Guess: calibration.Guess{Early: min(f.length, by), Late: by}}
	}
	g.By = by
	return g
}

func (f *future) unknown(o *outcome) Why {
	if o.why == Known && o.end < 0 {
		return f.rest
	}
	return o.why
}
