package external

import (
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// Version is the version of the protocol.
const Version = 1

// A Question is one round. Times are in seconds.
type Question struct {
	Round int     `json:"round"`
	Now   float64 `json:"now_s"`    // since the first question
	Span  float64 `json:"length_s"` // of the round
	// JobTime is the job-seconds in the system since the last question.
	JobTime float64 `json:"job_s"`
	GPUs    []GPUs  `json:"gpus"` // by type
	Jobs    []Job   `json:"jobs"` // active, by submission
}

// GPUs are the GPUs of one type.
type GPUs struct {
	Type    cluster.GPUType `json:"type"`
	Total   int             `json:"total"`
	PerNode int             `json:"per_node"` // of the largest node
}

// A Job is an active job.
type Job struct {
	ID        job.ID          `json:"id"`
	Class     job.Class       `json:"class,omitempty"`
	User      string          `json:"user,omitempty"`
	Queue     string          `json:"queue,omitempty"`
	Submitted float64         `json:"submitted_s"` // since the first question; may be negative
	Requested int             `json:"gpus"`        // requested
	Sizes     []Sizes         `json:"sizes"`       // possible, by type
	Held      int             `json:"held_gpus"`   // 0 if it waits
	HeldType  cluster.GPUType `json:"held_type,omitempty"`
	Service   float64         `json:"service_gpu_s"` // GPU time so far
	Restarts  int             `json:"restarts"`
	Restart   float64         `json:"restart_s"`   // expected cost of a start or move
	Remaining float64         `json:"remaining_s"` // expected, on its request
	Fixed     bool            `json:"fixed"`       // the answer cannot change its GPUs in this round
}

// Sizes are the possible numbers of GPUs of a type in an empty cluster.
type Sizes struct {
	Type  cluster.GPUType `json:"type"`
	Least int             `json:"least"`
	Most  int             `json:"most"`
	Step  int             `json:"step"`
}

// An Answer lists jobs by priority. Jobs that it leaves out get nothing.
type Answer struct {
	Jobs []Grant `json:"jobs"`
}

// A Grant is the GPUs of one job, if enough are free.
type Grant struct {
	ID job.ID `json:"id"`
	// GPUs is rounded down to a number that the job can use; below the least it is nothing. Nil: the job's request,
	// or the nearest possible number.
	GPUs *int `json:"gpus"`
	// Type is the GPU type. Empty: the held type, or else the fastest with free GPUs.
	Type cluster.GPUType `json:"type"`
}
