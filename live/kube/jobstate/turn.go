package jobstate

import (
	"sync"
	"time"
)

// A Turn lets the queues of a process take turns in comparing their shared watches of pods and nodes with the API
// server. It is safe for concurrent use.
type Turn struct {
	mu    sync.Mutex
	taken time.Time
}

// Take reports whether the caller should compare now: interval has passed since the last comparison, or t is nil.
func (t *Turn) Take(now time.Time, interval time.Duration) bool {
	if t == nil {
		return true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.taken.IsZero() && now.Sub(t.taken) < interval {
		return false
	}
	t.taken = now
	return true
}
