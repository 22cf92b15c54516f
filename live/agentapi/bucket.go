package agentapi

import (
	"sync"
	"time"
)

// A bucket limits requests: up to size tokens, refilled at rate per second.
type bucket struct {
	rate, size float64

	mu   sync.Mutex
	left float64
	last time.Time
}

func newBucket(perSecond float64, size int) *bucket {
	return &bucket{rate: perSecond, size: float64(size), left: float64(size)}
}

func (b *bucket) take(now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if since := now.Sub(b.last); since > 0 {
		if !b.last.IsZero() {
			b.left = min(b.size, b.left+since.Seconds()*b.rate)
		}
		b.last = now
	}
	if b.left >= 1 {
		b.left--
		return 0
	}
	return time.Duration((1 - b.left) / b.rate * float64(time.Second))
}
