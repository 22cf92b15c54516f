package agentapi

import (
	"math"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// Version is that of the messages, as Hello gives it.
const Version = 1

// A Hello is the first message of a generation: what the job's program says of itself.
type Hello struct {
	Version        int         `json:"version"`    // 1
	Client         string      `json:"client"`     // name and version, for people: printable, at most 100 bytes
	Generation     int         `json:"generation"` // which start of the job this is, from 1
	WorldSize      int         `json:"world_size"` // worker processes
	Batch          BatchLimits `json:"batch"`
	Schedule       []Regime    `json:"schedule,omitempty"`        // how the job changes its batch size by itself; empty: it does not say
	Epochs         int         `json:"epochs,omitempty"`          // that the job trains for; 0: not known
	Samples        float64     `json:"samples,omitempty"`         // at the efficiency of the initial batch, to completion; 0: not known
	Restored       *Restored   `json:"restored"`                  // nil: it begins anew
	RestoreSeconds float64     `json:"restore_seconds,omitempty"` // from the start of the process until now; 0: not measured
}

// BatchLimits bounds the batch sizes that a job may train with, in samples.
type BatchLimits struct {
	Init     int  `json:"init"`                // total, at the start
	Max      int  `json:"max"`                 // total; at least Init
	LocalMin int  `json:"local_min,omitempty"` // per worker and pass; 0 means 1
	LocalMax int  `json:"local_max,omitempty"` // per worker and pass: what fits into its memory; 0: not limited
	Adaptive bool `json:"adaptive,omitempty"`  // the scheduler may choose; else it is Init, or as Schedule says
}

// A Regime is a run of epochs with one total batch size, in samples.
type Regime struct {
	BatchSize int `json:"batch_size"`
	Epochs    int `json:"epochs"`
}

// Restored says from which checkpoint a job goes on.
type Restored struct {
	Step     int64   `json:"step"`     // optimiser steps since the job began
	Progress float64 `json:"progress"` // as Report.Progress
	Checksum string  `json:"checksum"` // as Checkpoint.Checksum
}

// A Welcome answers a Hello.
type Welcome struct {
	Batch         Batch   `json:"batch"`          // zero: the client chooses
	ReportSeconds float64 `json:"report_seconds"` // seconds between reports
	// Profile holds the local batch sizes to take a few steps with first, while the job
	// trains. Where the batch is fixed, the global batch stays the same. Empty: none.
	Profile []int `json:"profile"`
}

// A Batch is how a worker splits its part of a batch: Accumulation passes without and one pass
// with gradient exchange, of Local samples each. The zero value leaves the choice to the
// client; it is not valid in a Report.
type Batch struct {
	Local        int `json:"local"`        // samples per worker and pass
	Accumulation int `json:"accumulation"` // passes before the synchronising one
}

// A Report is what a job measured over an interval in which nothing changed. Times are
// seconds, means over optimiser steps.
type Report struct {
	Generation int     `json:"generation"` // as in Hello
	Sequence   int64   `json:"sequence"`   // from 1, grows with each report of a generation
	Step       int64   `json:"step"`       // optimiser steps since the job began
	Progress   float64 `json:"progress"`   // samples at the efficiency of the initial batch, since the job began
	Epoch      int     `json:"epoch"`      // from 0
	Interval   float64 `json:"interval"`   // seconds that the report covers
	Batch      Batch   `json:"batch"`
	StepTime   float64 `json:"step_time"`           // seconds of one synchronising pass: compute and gradient exchange; 0: not measured
	SyncTime   float64 `json:"sync_time"`           // of which gradient exchange
	WaitTime   float64 `json:"wait_time,omitempty"` // seconds per step spent waiting for input
	GradSqr    float64 `json:"grad_sqr,omitempty"`  // squared norm of the gradient, referred to the initial batch
	GradVar    float64 `json:"grad_var,omitempty"`  // its variance, likewise; both 0: not measured
	Profile    bool    `json:"profile,omitempty"`   // with a batch size of Welcome.Profile
}

// An Answer answers a Report.
type Answer struct {
	Batch  Batch   `json:"batch"`  // to train with from now on; zero: the client chooses
	Notice *Notice `json:"notice"` // nil: go on
}

// A Notice asks a job to save a checkpoint and exit with status 75.
type Notice struct {
	Deadline float64 `json:"deadline"` // Unix seconds at which its processes are killed
	Reason   string  `json:"reason"`   // for people
}

// A Checkpoint says that a job saved its state.
type Checkpoint struct {
	Generation int     `json:"generation"` // as in Hello
	Step       int64   `json:"step"`       // as in Report
	Progress   float64 `json:"progress"`   // as in Report
	Epoch      int     `json:"epoch"`      // as in Report
	Bytes      int64   `json:"bytes"`      // written
	Seconds    float64 `json:"seconds"`    // that training stood still for it
	Path       string  `json:"path"`       // its name in the job's checkpoint directory: letters, digits and ". _ -", no leading dot, at most 255 bytes
	Checksum   string  `json:"checksum"`   // "sha256:" and 64 lower-case hexadecimal digits
}

// Empty answers a Checkpoint.
type Empty struct{}

// Error is the body of every answer that is not 200.
type Error struct {
	Error string `json:"error"`
}

// Job returns r as the scheduler takes it: measured by a job while it held a configuration,
// cores and host bytes; both 0: not counted. r has passed the boundary.
func (r *Report) Job(id job.ID, held cluster.Configuration, cpus float64, memory int64) job.Report {
	return job.Report{
		Job: id, Interval: duration(r.Interval), Configuration: held, CPUs: cpus, Memory: memory,
		Batch:    job.BatchSize{Local: r.Batch.Local, Accumulation: r.Batch.Accumulation},
		StepTime: duration(r.StepTime), SyncTime: duration(r.SyncTime),
		GradSqr: r.GradSqr, GradVar: r.GradVar,
		Progress: r.Progress, Epoch: r.Epoch, Profile: r.Profile,
	}
}

// duration returns seconds as a Duration, rounded to the nanosecond.
func duration(seconds float64) time.Duration {
	return time.Duration(math.Round(seconds * float64(time.Second)))
}
