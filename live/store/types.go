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

// A Job is what the store keeps of one job.
type Job struct {
	Spec       *job.Spec
	Asked      *job.Spec // what was submitted, before its program described it; nil in Accept: Spec
	Request    Request
	Token      string // its workers' secret; no two jobs have the same
	Generation int    // of its last start, counted from 1; 0: never started
	Status     job.Status
	Batch      job.BatchSize // of the committed plan
	Number     int64         // order of acceptance, from 1; Accept sets it
	Ended      *Ending       // nil: it has not
	Failures   int           // failed generations in a row without progress
	Held       []int         // slots of the committed plan, by rank
	Checkpoint *Checkpoint   // the last; nil: none
	Previous   *Checkpoint   // the one before it, should the last be unreadable
}

// A Request is what to run. Its strings are bytes, as the system has them: of any
// encoding, but without zero bytes.
type Request struct {
	Command []string
	Dir     string
	Env     []string
	User    *account.User // whose job it is, and as whom it runs; nil: the scheduler's user
}

// A Checkpoint is what a job saved of itself.
type Checkpoint struct {
	Step     int64
	Progress float64 // samples at the efficiency of the initial batch
	At       time.Time
	Bytes    int64
	Checksum string
	Path     string  // names it among those of its job
	Seconds  float64 // that it took
}

// Validate returns an error that joins all that is wrong with c: numbers that are not finite,
// or below 0, and a missing path.
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
		errs = append(errs, errors.New("no path, want one"))
	}
	return errors.Join(errs...)
}

// An Ending is how a job ended: Done, Failed or Cancelled.
type Ending struct {
	Outcome scheduler.Outcome
	Detail  string // for people
	At      time.Time
}

// A Plan is what one round decided.
type Plan struct {
	Round   int64     // from 1; above those of all plans before
	Time    time.Time // logical: what was reported until then was known to the round
	Changes []Change  // each job at most once
}

// A Change is what a plan says of one job. The allocation and the placement are those of
// the status.
type Change struct {
	Job        job.ID
	Generation int // never falls
	Status     job.Status
	Batch      job.BatchSize
	Held       []int // slots by rank; no slot has two holders
	Failures   int
}

// A State is everything that a restart needs.
type State struct {
	Round int64     // of the last plan; 0: none
	Time  time.Time // of the last plan
	Jobs  []Known   // that have not ended, in order of acceptance
	Ended []Known   // the last 50 of each class that did, in order of ending
}

// A Known is a job and what it reported, in order of arrival.
type Known struct {
	Job    *Job
	Before []Report // known to the last plan; of an ended job all that are kept
	After  []Report // came later than its time, or were stored after it
}

// A Report is what a job reported, and when.
type Report struct {
	At time.Time
	job.Report
}
