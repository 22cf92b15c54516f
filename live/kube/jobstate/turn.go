package jobstate

import (
	"sync"
	"time"
)

// A Turn coordinates the queues of a process. They take turns in comparing the watches of pods and nodes, which they
// share, with the API server. It is safe for concurrent use.
type Turn struct {
	mu    sync.Mutex
	taken time.Time
}

// Take reports whether the caller should compare now, because at least interval has passed since the last comparison.
// It is always true for a nil Turn.
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
