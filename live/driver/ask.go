package driver

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/oxgang/oxgang/simulate/whatif"
)

// longestAnswer bounds how long a question may wait for another one, and then how long it is simulated.
const longestAnswer = 10 * time.Second

// ErrBusy says that another question is being answered.
var ErrBusy = errors.New("another question is being answered; ask again soon")

// Ask answers what would be, by simulation of the state that the last round left, from copies and beside the rounds: nothing is done,
// and what is predicted of jobs does not change. One question is answered at a time, on one processor, in 10 s at most; of a larger
// simulation the answer has what was found until then. Errors: ErrBusy, and those of whatif.Ask.
func (d *Driver) Ask(ctx context.Context, q whatif.Question) (a *whatif.Answer, err error) {
	if d.ahead == nil {
		return nil, errors.New("nothing is predicted in this queue")
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
		if r := recover(); r != nil { // answers are for people only: it must not end the scheduler
			a, err = nil, fmt.Errorf("what if: panicked: %v", r)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, longestAnswer)
	defer cancel()
	return d.ahead.Ask(ctx, q)
}
