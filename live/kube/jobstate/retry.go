package jobstate

import (
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// A Retry is when something that failed may be tried again.
type Retry struct {
	Failures  int
	NotBefore time.Time
}

// Backoff is half the delay after a first failure; LongBackoff is the longest delay.
const (
	Backoff     = time.Second
	LongBackoff = 10 * time.Minute
)

// Fail records a failure. The delay doubles with each failure in a row.
func (r *Retry) Fail(now time.Time) {
	r.Failures++
	r.NotBefore = now.Add(min(Backoff<<min(r.Failures, 20), LongBackoff))
}

// FailFor records a failure with an error. It respects a longer delay that the API server asks for.
func (r *Retry) FailFor(now time.Time, err error) {
	r.Fail(now)
	r.NotBefore = now.Add(LeaveAlone(r.NotBefore.Sub(now), err))
}

// Tries is the number of failures in a row after which a backing-off job gets no GPUs, which would be idle.
const Tries = 3

// BacksOff reports whether a job must get no GPUs at a time.
func (r *Retry) BacksOff(now time.Time) bool { return r.Failures >= Tries && now.Before(r.NotBefore) }

// askedDelay returns the delay that the API server, or a proxy before it, asks for in an error; 0 if none, at most
// LongBackoff.
func askedDelay(err error) time.Duration {
	seconds, _ := apierrors.SuggestsClientDelay(err)
	return min(time.Duration(seconds)*time.Second, LongBackoff)
}

// LeaveAlone returns the delay before the next request after an error: wait, or the delay in the error if it is
// longer.
func LeaveAlone(wait time.Duration, err error) time.Duration {
	return max(wait, askedDelay(err))
}
