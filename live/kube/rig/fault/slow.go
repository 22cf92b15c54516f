package fault

import (
	"context"
	"net/http"
	"time"
)

// load is what an API server with too much to do is like.
type load struct {
	late    time.Duration // of each call
	refused int           // of so many calls one is refused; 0: none
	calls   int           // so far
}

// Load makes the API server one with too much to do: each call but watches takes longer by late, and of so many calls that
// are not of leases one is answered with 429, to be asked again after a second. 0 and 0 end it.
func (r *Rules) Load(late time.Duration, refused int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.load = load{late: late, refused: refused}
}

// linger waits for as long as a call takes longer.
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

// refuses returns the answer to a call that is refused; nil: it is not.
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
