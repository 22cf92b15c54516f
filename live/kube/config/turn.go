package config

import (
	"sync"
	"time"
)

// A Turn is shared by the observers of all queues of a process. They share the watches of pods and nodes, so one at a
// time compares these with the API server. It is safe for concurrent use.
type Turn struct {
	mu    sync.Mutex
	taken time.Time
}

// Take takes the turn and reports true if the last turn was at least every ago. A nil Turn is always free.
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
