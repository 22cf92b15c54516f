package agentapi

import (
	"math"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// Version is the version of the messages.
const Version = 1

// A Hello is the first message that a job's program sends after each start.
type Hello struct {
	Version        int         `json:"version"`
	Client         string      `json:"client"`     // name and version: printable, at most 100 bytes
	Generation     int         `json:"generation"` // number of this start of the job, from 1
	WorldSize      int         `json:"world_size"` // number of workers
	Batch          BatchLimits `json:"batch"`
	Schedule       []regime    `json:"schedule,omitempty"`        // the job's own changes of its batch size
	Epochs         int         `json:"epochs,omitempty"`          // 0 if not known
	Samples        float64     `json:"samples,omitempty"`         // samples from the start to completion, at the efficiency of the initial batch; 0 if not known
	Restored       *Restored   `json:"restored"`                  // nil without a checkpoint
	RestoreSeconds float64     `json:"restore_seconds,omitempty"` // seconds from the start of the process until the checkpoint was restored; 0 if not measured
}

// BatchLimits are the smallest and largest batch sizes of a job, in samples.
type BatchLimits struct {
	Init     int  `json:"init"`                // initial total
	Max      int  `json:"max"`                 // at least Init
	LocalMin int  `json:"local_min,omitempty"` // 0 means 1
	LocalMax int  `json:"local_max,omitempty"` // limited by memory; 0 for no limit
	Adaptive bool `json:"adaptive,omitempty"`  // the scheduler may choose; otherwise Init or Schedule holds
}

// A regime is a number of epochs with one total batch size, in samples.
type regime struct {
	BatchSize int `json:"batch_size"`
	Epochs    int `json:"epochs"`
}

// Restored identifies the checkpoint from which a job continues.
type Restored struct {
	Step     int64   `json:"step"`     // since the job began
	Progress float64 `json:"progress"` // as Report.Progress
	Checksum string  `json:"checksum"` // as Checkpoint.Checksum
}

// A Welcome is the answer to a Hello.
type Welcome struct {
	Batch         Batch   `json:"batch"` // zero if the client chooses
	ReportSeconds float64 `json:"report_seconds"`
	// Profile has the local batch sizes of the first steps, while the job trains.
	Profile []int `json:"profile"`
}

// A Batch is how a worker processes its part of a batch: Accumulation passes of Local samples without gradient
// exchange, then one pass with it. The zero value leaves the choice to the client; in a Report it is invalid.
type Batch struct {
	Local        int `json:"local"`        // per worker and pass
	Accumulation int `json:"accumulation"` // passes before the one with gradient exchange
}

// A Report has measurements of an interval with constant GPUs and batch size. Times are mean seconds per optimiser
// step.
type Report struct {
	Generation int     `json:"generation"` // as in Hello
	Sequence   int64   `json:"sequence"`   // number of the report, from 1, increasing within a generation
	Step       int64   `json:"step"`       // since the job began
	Progress   float64 `json:"progress"`   // samples at the efficiency of the initial batch, since the job began
	Epoch      int     `json:"epoch"`      // current epoch, from 0
	Interval   float64 `json:"interval"`   // covered by the report
	Batch      Batch   `json:"batch"`
	StepTime   float64 `json:"step_time"`           // one pass with gradient exchange; 0 if not measured
	SyncTime   float64 `json:"sync_time"`           // gradient exchange, part of StepTime
	WaitTime   float64 `json:"wait_time,omitempty"` // waiting for input, per step
	GradSqr    float64 `json:"grad_sqr,omitempty"`  // squared norm, referred to the initial batch
	GradVar    float64 `json:"grad_var,omitempty"`  // variance of the gradient; both 0 if not measured
	Profile    bool    `json:"profile,omitempty"`   // with a batch size of Welcome.Profile
}

// An Answer is the reply to a Report: the batch size to use, and perhaps a request to stop.
type Answer struct {
	Batch  Batch   `json:"batch"`  // for the next steps; zero if the client chooses
	Notice *Notice `json:"notice"` // nil to continue
}

// A Notice asks a job to save a checkpoint and exit with status 75.
type Notice struct {
	Deadline float64 `json:"deadline"` // Unix seconds
	Reason   string  `json:"reason"`
}

// A Checkpoint is the message that the job has saved its state.
type Checkpoint struct {
	Generation int     `json:"generation"`
	Step       int64   `json:"step"`
	Progress   float64 `json:"progress"`
	Epoch      int     `json:"epoch"`
	Bytes      int64   `json:"bytes"`
	Seconds    float64 `json:"seconds"`  // seconds for which training paused
	Path       string  `json:"path"`     // name in the job's checkpoint directory: letters, digits and ". _ -", no leading dot, at most 255 bytes
	Checksum   string  `json:"checksum"` // "sha256:" and 64 lower-case hexadecimal digits
}

// Empty is the answer to a Checkpoint.
type Empty struct{}

// An Error is the body of every HTTP response with a status other than 200.
type Error struct {
	Error string `json:"error"`
}

// Job converts a report into the form of the scheduler. held, cpus (cores) and memory (bytes) are the job's resources
// during the report; cpus and memory are 0 if not counted.
func (r *Report) Job(id job.ID, held cluster.Configuration, cpus float64, memory int64) job.Report {
	return job.Report{
		Job: id, Interval: duration(r.Interval), Configuration: held, CPUs: cpus, Memory: memory,
		Batch:    job.BatchSize{Local: r.Batch.Local, Accumulation: r.Batch.Accumulation},
		StepTime: duration(r.StepTime), SyncTime: duration(r.SyncTime),
		GradSqr: r.GradSqr, GradVar: r.GradVar,
		Progress: r.Progress, Epoch: r.Epoch, Profile: r.Profile,
	}
}

func duration(seconds float64) time.Duration {
	return time.Duration(math.Round(seconds * float64(time.Second)))
}
