package store

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/oxgang/oxgang/live/account"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// A Job is what the store keeps of a job.
type Job struct {
	Spec       *job.Spec
	Asked      *job.Spec // as submitted, before its program described it; nil in Accept for Spec
	Request    Request
	Token      string // its workers' secret, unique
	Generation int    // of its last start, from 1; 0 if never started
	Status     job.Status
	Batch      job.BatchSize // of the committed plan
	Number     int64         // order of acceptance, from 1; set by Accept
	Ended      *Ending       // nil if it has not ended
	Failures   int           // consecutive failed generations without progress
	Held       []int         // slots of the committed plan, by rank
	Checkpoint *Checkpoint   // the last; may be nil
	Previous   *Checkpoint   // the one before, in case the last is unreadable
}

// A Request is what to run. Its strings are bytes of any encoding, without zero bytes.
type Request struct {
	Command []string
	Dir     string
	Env     []string
	User    *account.User // the job's user; nil for the scheduler's
}

// A Checkpoint is a saved state of a job.
type Checkpoint struct {
	Step     int64
	Progress float64 // samples at the efficiency of the initial batch
	At       time.Time
	Bytes    int64
	Checksum string
	Path     string  // name within the job's checkpoints
	Seconds  float64 // duration
}

// Validate returns all errors of c: numbers that are negative or not finite, and a missing path.
func (c *Checkpoint) Validate() error {
	var errs []error
	for _, f := range []struct {
		name  string
		value float64
	}{
		{"step", float64(c.Step)},
		{"progress", c.Progress},
		{"bytes", float64(c.Bytes)},
		{"seconds", c.Seconds},
	} {
		if !(f.value >= 0) || math.IsInf(f.value, 1) {
			errs = append(errs, fmt.Errorf("%s %v, want finite and at least 0", f.name, f.value))
		}
	}
	if c.Path == "" {
		errs = append(errs, errors.New("no path"))
	}
	return errors.Join(errs...)
}

// An Ending is how a job ended: Done, Failed or Cancelled.
type Ending struct {
	Outcome scheduler.Outcome
	Detail  string
	At      time.Time
}

// A Plan is the result of one round.
type Plan struct {
	Round   int64     // from 1, increasing
	Time    time.Time // logical; the round knew all earlier reports
	Changes []Change  // at most one per job
}

// A Change is the part of a plan for one job. Status has the allocation and placement.
type Change struct {
	Job        job.ID
	Generation int // never decreases
	Status     job.Status
	Batch      job.BatchSize
	Held       []int // slots by rank; a slot has one holder
	Failures   int
}

// A State is what a restart needs.
type State struct {
	Round int64     // of the last plan; 0 for none
	Time  time.Time // of the last plan
	Jobs  []Known   // not ended, in order of acceptance
	Ended []Known   // the last 50 of each class, in order of ending
}

// A Known is a job with its reports, in order of arrival.
type Known struct {
	Job    *Job
	Before []Report // known to the last plan; all for an ended job
	After  []Report // later than the last plan, or stored after it
}

// A Report is a job's report with its time.
type Report struct {
	At time.Time
	job.Report
}
