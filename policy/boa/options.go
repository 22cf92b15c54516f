package boa

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Options configure BOA Constrictor.
type Options struct {
	// Budget is the mean spending allowed per hour, in GPU-hours or money. Default 0: no limit (§3.1: b).
	Budget float64
	Money  bool   // whether Budget is money; default false: GPU-hours
	Method Method // how widths are chosen; default Mixture
	Widest int    // largest number of GPUs of a job; default 64 (§6.3, the limit of the paper's simulator)
	// Recompute is the minimum time between computations of widths. Default 15 min (§5.2).
	Recompute time.Duration
	// Window and Slack limit spending: in any Window it is at most Budget plus Slack. Default 7 days and 2 %.
	Window time.Duration
	Slack  float64
	// Horizon is the time over which the policy corrects past over- and underspending. Default 7 days, because a
	// price that follows every burst makes jobs slower. If 0, past spending and Window have no effect.
	Horizon time.Duration
}

// DefaultOptions returns the default settings.
func DefaultOptions() Options {
	return Options{Widest: 64, Recompute: 15 * time.Minute, Window: 7 * 24 * time.Hour, Slack: 0.02, Horizon: 7 * 24 * time.Hour}
}

// Validate returns all errors in o, joined.
func (o *Options) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if !(o.Budget >= 0) || math.IsInf(o.Budget, 0) {
		bad("budget %v per hour, want a number of at least 0", o.Budget)
	}
	if o.Method > Published {
		bad("method %d, want at most %d", o.Method, Published)
	}
	if o.Widest < 1 || o.Widest > 4096 {
		bad("widest %d GPUs, want 1 to 4096", o.Widest)
	}
	if o.Recompute < 0 {
		bad("recompute after %v, want at least 0", o.Recompute)
	}
	if o.Window < time.Hour || !(o.Slack >= 0 && o.Slack <= 1) {
		bad("window %v with slack %v, want at least 1h and 0 to 1", o.Window, o.Slack)
	}
	if o.Horizon < 0 {
		bad("horizon %v, want at least 0", o.Horizon)
	}
	return errors.Join(errs...)
}
