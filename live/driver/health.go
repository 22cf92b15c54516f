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
	policy *fallback.Policy

	mu    sync.Mutex
	state fallback.State // after the last round
}

// Event implements scheduler.Observer.
func (*health) Event(time.Time, scheduler.Event) {}

// Round implements scheduler.Observer.
func (h *health) Round(*policy.Snapshot, *policy.Plan, []scheduler.Action) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.state = h.policy.State()
}

// trouble returns what is wrong with the policy, in words for users; empty if it plans.
func (h *health) trouble() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch st := h.state; {
	case st.Active:
		return fmt.Sprintf("the policy has failed %d times in a row, and jobs are served first in, first out: %v", st.Failures, st.Err)
	case st.Failures > 0:
		return fmt.Sprintf("the policy has failed, and everything stays as it is: %v", st.Err)
	}
	return ""
}
