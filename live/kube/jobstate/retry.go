package jobstate

import (
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// A Retry states when a failed action may be tried again.
type Retry struct {
	Failures  int
	NotBefore time.Time
}

// Backoff is half the first delay; LongBackoff is the longest delay.
const (
	Backoff     = time.Second
	LongBackoff = 10 * time.Minute
)

// Fail records a failure; the delay doubles each time.
func (r *Retry) Fail(now time.Time) {
	r.Failures++
	r.NotBefore = now.Add(min(Backoff<<min(r.Failures, 20), LongBackoff))
}

// FailFor records a failure, and respects a longer delay in the error.
func (r *Retry) FailFor(now time.Time, err error) {
	r.Fail(now)
	r.NotBefore = now.Add(LeaveAlone(r.NotBefore.Sub(now), err))
}

// Tries is the number of failures in a row after which a job gets no GPUs for a time.
const Tries = 3

// BacksOff reports whether a job must get no GPUs now.
func (r *Retry) BacksOff(now time.Time) bool { return r.Failures >= Tries && now.Before(r.NotBefore) }

// LeaveAlone returns the delay after an error: wait, or a longer one that err requests, at most LongBackoff.
func LeaveAlone(wait time.Duration, err error) time.Duration {
	seconds, _ := apierrors.SuggestsClientDelay(err)
	return max(wait, min(time.Duration(seconds)*time.Second, LongBackoff))
}
