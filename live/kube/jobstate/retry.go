package jobstate

import (
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// A Retry says when something that failed may be tried again.
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

// FailFor records a failure with an error. The next attempt is not sooner than the API server asks
// for in the error.
func (r *Retry) FailFor(now time.Time, err error) {
	r.Fail(now)
	r.NotBefore = now.Add(LeaveAlone(r.NotBefore.Sub(now), err))
}

// Tries is the number of failures in a row after which no GPUs are planned for a job until it may be
// tried again: they would be idle meanwhile.
const Tries = 3

// BacksOff reports whether no GPUs must be planned for a job at a time.
func (r *Retry) BacksOff(now time.Time) bool { return r.Failures >= Tries && now.Before(r.NotBefore) }

// askedDelay returns the delay before the next request that the API server, or a proxy before it,
// asks for in an error, at most longBackoff; 0: none.
func askedDelay(err error) time.Duration {
	seconds, _ := apierrors.SuggestsClientDelay(err)
	return min(time.Duration(seconds)*time.Second, LongBackoff)
}

// LeaveAlone returns how long to send no request to the API server after an error: wait, or the
// delay that it asks for if that is longer.
func LeaveAlone(wait time.Duration, err error) time.Duration {
	return max(wait, askedDelay(err))
}
