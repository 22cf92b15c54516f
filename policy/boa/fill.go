package boa

import "time"

// A fill is how full the nodes are that no job has for itself. What a width costs depends
// on it: the GPUs beyond whole nodes are on nodes that others may not fill.
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

// lonely is the part of a node that the rest of a job's GPUs fills alone, in the mean over
// all rests; unheard is for how many GPU-hours nodes are taken to have been filled so
// before any were seen.
const (
	lonely  = 0.5
	unheard = 48
)

// part returns the part of GPUs in use on such nodes.
func (f *fill) part() float64 { return (lonely*unheard + f.had) / (unheard + f.paid) }
