package jobstate

import (
	"sync"
	"time"
)

// A Turn makes the queues of a process take turns in comparing the shared watches of pods and nodes with the API
// server. It is safe for concurrent use.
type Turn struct {
	mu    sync.Mutex
	taken time.Time
}

// Take reports whether it is this queue's turn, because the last turn was at least every ago. For a nil Turn it
// always is.
func (t *Turn) Take(now time.Time, every time.Duration) bool {
	if t == nil {
		return true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.taken.IsZero() && now.Sub(t.taken) < every {
		return false
	}
	t.taken = now
	return true
}
