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

// A Job is the stored data of one job.
type Job struct {
	Spec       *job.Spec
	Asked      *job.Spec // specification as submitted; if nil, Accept sets it to Spec
	Request    Request
	Token      string // secret of the job's workers, unique
	Generation int    // number of its last start, from 1; 0: never started
	Status     job.Status
	Batch      job.BatchSize // batch size of the committed plan
	Number     int64         // order of acceptance, from 1
	Ended      *Ending
	Failures   int   // failures in a row without progress
	Held       []int // slots held by the committed plan, by rank of the worker
	Checkpoint *Checkpoint
	Previous   *Checkpoint // checkpoint before it, in case Checkpoint is unreadable
}

// A Request is the command of a job, with its directory, environment and user. Strings may have any encoding, but no
// zero bytes.
type Request struct {
	Command []string
	Dir     string
	Env     []string
	User    *account.User // user who runs it; nil: the scheduler's user
}

// A Checkpoint is a saved state of a job.
type Checkpoint struct {
	Step     int64
	Progress float64 // samples at the efficiency of the initial batch
	At       time.Time
	Bytes    int64
	Checksum string
	Path     string  // name in the job's folder of checkpoints
	Seconds  float64 // duration
}

// Validate returns all errors, joined: negative, infinite or NaN numbers, and a missing path.
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

// An Ending states how a job ended: Done, Failed or Cancelled, when, and why.
type Ending struct {
	Outcome scheduler.Outcome
	Detail  string
	At      time.Time
}

// A Plan is the result of one round.
type Plan struct {
	Round   int64     // number of the round, from 1, increasing
	Time    time.Time // the scheduler's time
	Changes []Change  // at most one per job
}

// A Change is the part of a plan for one job.
type Change struct {
	Job        job.ID
	Generation int // number of the job's start; never decreases
	Status     job.Status
	Batch      job.BatchSize
	Held       []int // slots by rank of the worker; a slot has one holder
	Failures   int
}

// A State is everything that the scheduler needs after a restart.
type State struct {
	Round int64     // round of the last plan; 0 for none
	Time  time.Time // time of the last plan
	Jobs  []Known   // unfinished, in order of acceptance
	Ended []Known   // last 50 ended jobs of each class, in order
}

// A Known is a stored job with its reports, in the order in which they arrived.
type Known struct {
	Job    *Job
	Before []Report // reports that the last plan used; all of an ended job
	After  []Report // later reports
}

// A Report is a job's report with its time.
type Report struct {
	At time.Time
	job.Report
}
