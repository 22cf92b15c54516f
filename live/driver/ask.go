package driver

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/oxgang/oxgang/simulate/whatif"
)

const longestAnswer = 10 * time.Second

// ErrBusy reports that another what-if question is being answered.
var ErrBusy = errors.New("another question is being answered; ask again soon")

// Ask answers a what-if question by simulating from a copy of the last round's state. One question is answered at
// a time, on one processor. After 10 s the answer has what was found until then. Errors: ErrBusy, and the errors
// of whatif.Ask.
func (d *Driver) Ask(ctx context.Context, q whatif.Question) (a *whatif.Answer, err error) {
	if d.ahead == nil {
		return nil, errors.New("predictions are switched off in this queue")
	}
	turn, stop := context.WithTimeoutCause(ctx, longestAnswer, ErrBusy)
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
	return d.ahead.Ask(ctx, q)
}
