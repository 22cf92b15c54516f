package perf

import (
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// ClassStats is what is believed of the jobs of one class: how often they arrive, how much
// progress their epochs take, and how fast they are in each epoch. It is immutable. Source: BOA
// §3.1.
type ClassStats struct {
	Class    job.Class
	Arrivals int           // jobs of the class seen so far
	Rate     float64       // lambda_i, arrivals per second
	Restart  time.Duration // r_i: a start or a change of GPUs
	// Sizes holds E[X_ij], the progress made in each epoch, in order.
	Sizes  []float64
	Speeds EpochSpeeds
	// Guessed, if not empty, says in words which of these numbers do not come from jobs that
	// have ended.
	Guessed string
}

// EpochSpeeds say how fast the jobs of a class are. They are a value and no function, so that a checkpoint can have them.
type EpochSpeeds interface {
	// At returns the goodput, in progress per second, with the best batch size in an epoch
	// (counted from 0) on a configuration; 0 if the jobs do not run there. It is a pure
	// function, and may be called from several goroutines.
	At(epoch int, c cluster.Configuration) float64
}

// An EpochSpeed is a function that implements EpochSpeeds.
type EpochSpeed func(epoch int, c cluster.Configuration) float64

// At implements EpochSpeeds.
func (f EpochSpeed) At(epoch int, c cluster.Configuration) float64 { return f(epoch, c) }

// Speed returns what Speeds says.
func (s *ClassStats) Speed(epoch int, c cluster.Configuration) float64 { return s.Speeds.At(epoch, c) }
