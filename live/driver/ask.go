package driver

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler/explain/counterfactual"
	"github.com/oxgang/oxgang/simulate/whatif"
)

const longestAnswer = 10 * time.Second

var errBusy = errors.New("another question is being answered; ask again soon")

// Ask answers a what-if question by simulating from the state after the last round, on one processor and for at most 10
// s. It answers one question at a time. Errors: ErrBusy, and the errors of whatif.Ask.
func (d *Driver) Ask(ctx context.Context, q whatif.Question) (*whatif.Answer, error) {
	return inTurn(ctx, d, func(ctx context.Context) (*whatif.Answer, error) { return d.ahead.Ask(ctx, q) })
}

// longestTrial bounds the simulation for a job on trial, and the search for a change that helps.
const longestTrial = 2 * time.Second

// Try returns when a job would start if it were submitted now. Nothing is submitted or recorded. It also counts as a
// question: errors are ErrBusy, and the errors of whatif.Predictor.Try.
func (d *Driver) Try(ctx context.Context, spec *job.Spec) (*whatif.TrialAnswer, error) {
	return inTurn(ctx, d, func(ctx context.Context) (*whatif.TrialAnswer, error) {
		ctx, stop := context.WithTimeout(ctx, longestTrial)
		defer stop()
		ahead, by := d.lastRound(ctx)
		t, err := ahead.Try(ctx, d.backend.Now(), spec, by)
		if err != nil {
			return nil, err
		}
		return whatif.AnswerOf(spec, t), nil
	})
}

func (d *Driver) lastRound(ctx context.Context) (*whatif.Predictor, counterfactual.Decider) {
	if s, _ := d.ahead.Last(); s == nil {
		c := d.backend.Cluster()
		empty := whatif.NewPredictor(d.o.newPolicy, d.o.scheduler(), c.Types())
		empty.Round(&policy.Snapshot{Now: d.backend.Now(), Length: d.o.Round, Cluster: c}, &policy.Plan{}, nil)
		return empty, nil
	}
	if d.again == nil {
		return d.ahead, nil
	}
	last, err := d.again.last(ctx)
	if err != nil {
		return d.ahead, nil
	}
	return d.ahead, last.decider
}

func inTurn[A any](ctx context.Context, d *Driver, answer func(context.Context) (*A, error)) (a *A, err error) {
	if d.ahead == nil {
		return nil, errors.New("predictions are switched off in this queue")
	}
	turn, stop := context.WithTimeoutCause(ctx, longestAnswer, errBusy)
	defer stop()
	select {
	case d.asked <- struct{}{}:
		defer func() { <-d.asked }()
	case <-turn.Done():
		return nil, context.Cause(turn)
	}
	defer func() {
		if r := recover(); r != nil { // an answer must not end the scheduler
			a, err = nil, fmt.Errorf("what if: panicked: %v", r)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, longestAnswer)
	defer cancel()
	return answer(ctx)
}
