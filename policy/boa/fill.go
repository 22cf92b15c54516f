package boa

import "time"

// A fill measures how full the nodes are that no job has for itself. The cost of a width
// depends on it, because the GPUs beyond whole nodes are on nodes that others may not fill.
type fill struct {
	at         time.Time
	used, gpus int     // since at
	had, paid  float64 // GPU-hours before
}

// enter books how full nodes were up to now.
func (f *fill) enter(now time.Time) {
	if !f.at.IsZero() {
		hours := now.Sub(f.at).Hours()
		f.had += hours * float64(f.used)
		f.paid += hours * float64(f.gpus)
	}
	f.at = now
}

// lonely is the part of a node that the GPUs of a job beyond whole nodes fill if it is alone
// there, in the mean over all their numbers. unheard is the weight of lonely before anything
// was measured, in GPU-hours.
const (
	lonely  = 0.5
	unheard = 48
)

// part returns the part of GPUs in use on such nodes.
func (f *fill) part() float64 { return (lonely*unheard + f.had) / (unheard + f.paid) }
