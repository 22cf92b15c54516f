package driver

import (
	"fmt"
	"sync"
	"time"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/fallback"
	"github.com/oxgang/oxgang/scheduler"
)

type health struct {
	policy     *fallback.Policy
	clockMoved func() time.Duration

	mu    sync.Mutex
	state fallback.State // after the last round
	moved time.Duration  // clockMoved after the last round
}

func (*health) Event(time.Time, scheduler.Event) {}

func (h *health) Round(*policy.Snapshot, *policy.Plan, []scheduler.Action) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.state, h.moved = h.policy.State(), h.clockMoved()
}

const mentioned = 10 * time.Second

func (h *health) trouble() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch st := h.state; {
	case st.Active:
		return fmt.Sprintf("the policy has failed %d times in a row; jobs are scheduled first in, first out until it works again: %v", st.Failures, st.Err)
	case st.Failures > 0:
		return fmt.Sprintf("the policy has failed; running jobs continue unchanged: %v", st.Err)
	case h.moved.Abs() >= mentioned:
		return fmt.Sprintf("the machine's clock was set %s while the scheduler ran: displayed times are off by as much, plans are not affected; restart the scheduler to correct the times", direction(h.moved))
	}
	return ""
}

func direction(moved time.Duration) string {
	if moved < 0 {
		return "back by " + (-moved).Round(time.Second).String()
	}
	return "forward by " + moved.Round(time.Second).String() + " (or the machine slept)"
}
