package fault

import (
	"context"
	"net/http"
	"time"
)

type load struct {
	late    time.Duration // added to each call
	refused int           // one call in so many is refused; 0: none
	calls   int           // so far
}

// Load simulates an overloaded API server. Each call except watches takes longer by late. One in refused calls, except
// on leases, is answered with status 429 and a retry after one second. Load(0, 0) ends this.
func (r *Rules) Load(late time.Duration, refused int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.load = load{late: late, refused: refused}
}

func (r *Rules) linger(ctx context.Context, c *Call) error {
	r.mu.Lock()
	late := r.load.late
	r.mu.Unlock()
	if c.Verb == "watch" || late == 0 {
		return nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(late):
		return nil
	}
}

func (r *Rules) refuses(c *Call) *answer {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.load.refused == 0 || c.Resource == "leases" {
		return nil
	}
	if r.load.calls++; r.load.calls%r.load.refused > 0 {
		return nil
	}
	return &answer{code: http.StatusTooManyRequests, retryAfter: time.Second}
}
