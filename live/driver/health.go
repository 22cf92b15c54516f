package driver

import (
	"fmt"
	"sync"
	"time"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/fallback"
	"github.com/oxgang/oxgang/scheduler"
)

// A health keeps, for other goroutines, whether the policy or its fallback made the last
// plan. It is a scheduler.Observer.
type health struct {
	policy     *fallback.Policy
	clockMoved func() time.Duration

	mu    sync.Mutex
	state fallback.State // after the last round
	moved time.Duration  // what clockMoved returned after the last round
}

// Event implements scheduler.Observer.
func (*health) Event(time.Time, scheduler.Event) {}

// Round implements scheduler.Observer.
func (h *health) Round(*policy.Snapshot, *policy.Plan, []scheduler.Action) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.state, h.moved = h.policy.State(), h.clockMoved()
}

// mentioned is how far a clock must have moved to be mentioned: less is what keeping a clock in
// time does to it.
const mentioned = 10 * time.Second

// trouble returns what is wrong with the policy or the clock, in words for users; empty if
// nothing is.
func (h *health) trouble() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch st := h.state; {
	case st.Active:
		return fmt.Sprintf("the policy has failed %d times in a row, and jobs are served first in, first out: %v", st.Failures, st.Err)
	case st.Failures > 0:
		return fmt.Sprintf("the policy has failed, and everything stays as it is: %v", st.Err)
	case h.moved.Abs() >= mentioned:
		return fmt.Sprintf("the machine's clock was set %s while the scheduler ran: plans are made as before, and the times that they are shown with are off by that; start the scheduler again to have the clock's", direction(h.moved))
	}
	return ""
}

// direction says how far, and where to, a clock was set.
func direction(moved time.Duration) string {
	if moved < 0 {
		return "back by " + (-moved).Round(time.Second).String()
	}
	return "forward by " + moved.Round(time.Second).String() + " (or it slept)"
}
