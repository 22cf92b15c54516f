package jobstate

import (
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// A Retry counts failures of an action, and delays the next try.
type Retry struct {
	Failures  int
	NotBefore time.Time
}

// Backoff is half the first delay; LongBackoff the longest.
const (
	Backoff     = time.Second
	LongBackoff = 10 * time.Minute
)

// Fail records a failure at time now. The delay doubles each time.
func (r *Retry) Fail(now time.Time) {
	r.Failures++
	r.NotBefore = now.Add(min(Backoff<<min(r.Failures, 20), LongBackoff))
}

// FailFor records a failure with err at time now. If err requests a longer delay, it is respected.
func (r *Retry) FailFor(now time.Time, err error) {
	r.Fail(now)
	r.NotBefore = now.Add(LeaveAlone(r.NotBefore.Sub(now), err))
}

// Tries is how many starts of a job may fail in a row before it gets no GPUs for some time.
const Tries = 3

// BacksOff reports whether the job gets no GPUs now because its last starts failed.
func (r *Retry) BacksOff(now time.Time) bool { return r.Failures >= Tries && now.Before(r.NotBefore) }

// LeaveAlone returns wait, or a longer delay that err requests, up to LongBackoff.
func LeaveAlone(wait time.Duration, err error) time.Duration {
	seconds, _ := apierrors.SuggestsClientDelay(err)
	return max(wait, min(time.Duration(seconds)*time.Second, LongBackoff))
}
