package whatif

import (
	"context"
	"fmt"
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
	NoSpeed // the job's speed on the GPUs that it has or would get is not measured yet
	Beyond  // the start or end does not happen within the simulated rounds
	whys
)

var whyNames = [whys]string{"known", "no target declared", "speed not measured yet", "not within the simulated rounds"}

func (w Why) String() string {
	if w >= whys {
		return "unknown"
	}
	return whyNames[w]
}

// A Guess is the time until something happens, in the two simulations of Ahead.
type Guess struct {
	calibration.Guess
	// Open: with new jobs, it does not happen within the simulated rounds; Late is their length.
	Open bool
	Why  Why // if it is not Known, the times are zero
}

// A Times predicts when a job gets GPUs and completes. Start is zero for a job with GPUs; Next is when that gets
// other GPUs.
type Times struct {
	Job              job.ID
	Start, Next, End Guess
}

// Ahead simulates the state of a snapshot forward twice: without new jobs and with the best gradient
// statistics where none were measured, and with new jobs at the rate of the past and constant
// statistics. It returns when each job starts and ends, in the order of the snapshot.
// Its result depends only on its arguments. Jobs of unknown work or speed take part, and never end.
//
// If ctx has a deadline, it returns what it found until then.
//
// Complexity: at most twice Rounds plans of the policy.
func Ahead(ctx context.Context, s *policy.Snapshot, o Options) ([]Times, error) {
	all, _, err := ahead(ctx, s, o)
	return all, err
}

// ahead is Ahead, and returns the outcomes of the second simulation, too: its statistics are the present ones.
func ahead(ctx context.Context, s *policy.Snapshot, o Options) ([]Times, map[job.ID]*outcome, error) {
	if err := o.Validate(); err != nil {
		return nil, nil, fmt.Errorf("whatif: %w", err)
	}
	soon, cancel := half(ctx)
	defer cancel()
	alone, _, err := scenario{best: true}.run(soon, s, &o)
	if err != nil {
		return nil, nil, fmt.Errorf("whatif: %w", err)
	}
	pressed, end, err := scenario{between: o.Between}.run(ctx, s, &o)
	if err != nil {
		return nil, nil, fmt.Errorf("whatif: %w", err)
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
	return all, pressed, nil
}

func half(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Until(deadline)/2)
}

// guess returns the earlier and the later of two times; a negative one did not come within the horizon.
func guess(alone, pressed, horizon time.Duration) Guess {
	switch {
	case alone < 0:
		return Guess{Why: Beyond}
	case pressed < 0:
		return Guess{Guess: calibration.Guess{Early: alone, Late: max(alone, horizon)}, Open: true}
	}
	return Guess{Guess: calibration.Guess{Early: min(alone, pressed), Late: max(alone, pressed)}}
}
