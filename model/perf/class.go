package perf

import (
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// ClassStats are statistics of the jobs of one class: how often jobs arrive, and for each training epoch how much
// progress they make and how fast. They are immutable. Source: BOA §3.1.
type ClassStats struct {
	Class    job.Class
	Arrivals int           // jobs of the class submitted so far
	Rate     float64       // lambda_i, arrivals per second
	Restart  time.Duration // time of a start or a change of GPUs, r_i
	// Sizes is the mean progress made in each epoch, E[X_ij], in order.
	Sizes  []float64
	Speeds EpochSpeeds
	// Guessed, if not empty, describes which numbers do not come from ended jobs.
	Guessed string
}

// EpochSpeeds returns the speed of the jobs of a class in each epoch on each configuration. It is an interface because
// a checkpoint cannot store a function.
type EpochSpeeds interface {
	// At returns the goodput (progress per second) in an epoch, from 0, with the best batch size; 0 if the
	// jobs do not run there. It is a pure function, safe for concurrent use.
	At(epoch int, c cluster.Configuration) float64
}

// An EpochSpeed is a function that implements EpochSpeeds.
type EpochSpeed func(epoch int, c cluster.Configuration) float64

// At implements EpochSpeeds.
func (f EpochSpeed) At(epoch int, c cluster.Configuration) float64 { return f(epoch, c) }

// Speed returns the goodput in an epoch on a configuration; see EpochSpeeds.At.
func (s *ClassStats) Speed(epoch int, c cluster.Configuration) float64 { return s.Speeds.At(epoch, c) }
