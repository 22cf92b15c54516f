package external

import (
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// Version is that of the protocol.
const Version = 1

// A Question is one round, as the other process sees it. Times are seconds.
type Question struct {
	Round int     `json:"round"`
	Now   float64 `json:"now_s"`    // since the first question
	Span  float64 `json:"length_s"` // of the round
	// JobTime is the job-seconds that were spent in the system since the last question.
	JobTime float64 `json:"job_s"`
	GPUs    []GPUs  `json:"gpus"` // by type
	Jobs    []Job   `json:"jobs"` // active, by submission
}

// GPUs are those of one type.
type GPUs struct {
	Type    cluster.GPUType `json:"type"`
	Total   int             `json:"total"`
	PerNode int             `json:"per_node"` // of the largest node
}

// A Job is what may be known of an active job.
type Job struct {
	ID        job.ID          `json:"id"`
	Class     job.Class       `json:"class,omitempty"`
	User      string          `json:"user,omitempty"`
	Queue     string          `json:"queue,omitempty"`
	Submitted float64         `json:"submitted_s"` // since the first question; may be negative
	Requested int             `json:"gpus"`        // that it asks for
	Sizes     []Sizes         `json:"sizes"`       // that it may have, by type
	Held      int             `json:"held_gpus"`   // 0: it waits
	HeldType  cluster.GPUType `json:"held_type,omitempty"`
	Service   float64         `json:"service_gpu_s"` // GPU time so far
	Restarts  int             `json:"restarts"`
	Restart   float64         `json:"restart_s"`   // what a start or move is believed to cost
	Remaining float64         `json:"remaining_s"` // believed, on what it asks for
	Fixed     bool            `json:"fixed"`       // what it has in this round is not for the answer to say
}

// Sizes are the amounts of GPUs of a type that a job may have in an empty cluster.
type Sizes struct {
	Type  cluster.GPUType `json:"type"`
	Least int             `json:"least"`
	Most  int             `json:"most"`
	Step  int             `json:"step"`
}

// An Answer is what jobs are to have, the most important first. Jobs that it leaves out get nothing.
type Answer struct {
	Jobs []Grant `json:"jobs"`
}

// A Grant is what one job is to have, if there is room for it.
type Grant struct {
	ID job.ID `json:"id"`
	// GPUs is rounded down to an amount that the job may have on the type; less than the least is
	// nothing. Nil: what it asks for, or as near as it may.
	GPUs *int `json:"gpus"`
	// Type is the GPU type. Empty: the one that the job holds, or else that on which it is believed to be
	// fastest of those with room.
	Type cluster.GPUType `json:"type"`
}
