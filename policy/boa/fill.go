package boa

import "time"

// A fill measures how full shared nodes are, because the cost of a width depends on it.
type fill struct {
	at         time.Time
	used, gpus int     // since at
	had, paid  float64 // GPU-hours used and paid before at
}

func (f *fill) enter(now time.Time) {
	if !f.at.IsZero() {
		hours := now.Sub(f.at).Hours()
		f.had += hours * float64(f.used)
		f.paid += hours * float64(f.gpus)
	}
	f.at = now
}

// aloneFill is the mean part of a node that the last GPUs of a job fill alone. priorHours is its weight before
// measurements, in GPU-hours.
const (
	aloneFill  = 0.5
	priorHours = 48
)

func (f *fill) part() float64 { return (aloneFill*priorHours + f.had) / (priorHours + f.paid) }
