package jobstate

import (
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// A Retry is when something that failed may be tried again.
type Retry struct {
	Failures  int // in a row
	NotBefore time.Time
}

// Half the time from a first failure to the next attempt, and the longest there is.
const (
	Backoff     = time.Second
	LongBackoff = 10 * time.Minute
)

// Fail notes a failure at a time.
func (r *Retry) Fail(now time.Time) {
	r.Failures++
	r.NotBefore = now.Add(min(Backoff<<min(r.Failures, 20), LongBackoff))
}

// FailFor notes a failure with an error: what failed is not tried again sooner than the API server
// asks for.
func (r *Retry) FailFor(now time.Time, err error) {
	r.Fail(now)
	r.NotBefore = now.Add(LeaveAlone(r.NotBefore.Sub(now), err))
}

// Tries is how many failures in a row it takes until nothing is planned for a job before it
// may be tried again: GPUs would be kept for it in vain.
const Tries = 3

// BacksOff reports whether nothing is to be planned for a job at a time.
func (r *Retry) BacksOff(now time.Time) bool { return r.Failures >= Tries && now.Before(r.NotBefore) }

// asked returns how long the API server, or what stands before it, asks with an error not to be
// asked again, longBackoff at most; 0: it does not say.
func askedDelay(err error) time.Duration {
	seconds, _ := apierrors.SuggestsClientDelay(err)
	return min(time.Duration(seconds)*time.Second, LongBackoff)
}

// LeaveAlone returns how long to leave the API server alone after an error: a time, or what it asks for.
func LeaveAlone(wait time.Duration, err error) time.Duration {
	return max(wait, askedDelay(err))
}
