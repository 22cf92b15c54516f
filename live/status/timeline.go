package status

import (
	"time"

	"github.com/oxgang/oxgang/model/job"
)

// A Timeline is how many GPUs jobs have held over time. It is bounded, whatever the number of jobs and changes.
type Timeline struct {
	Begun  time.Time `json:"begun"`  // origin of the times
	Until  int64     `json:"until"`  // last known time, in seconds
	Tracks []Track   `json:"tracks"` // in order of their first step
	// Nodes are changes of nodes, by time.
	Nodes []NodeChange `json:"nodes"`
	// Omitted is the number of jobs that ended too long ago to be listed.
	Omitted int `json:"omitted,omitempty"`
}

// A Track is the past of one job.
type Track struct {
	Job   job.ID `json:"job"`
	User  string `json:"user,omitempty"`
	Steps []Step `json:"steps"` // by time
}

// A Step is a change of what a job holds: GPUs GPUs from At until the next step.
type Step struct {
	At   int64 `json:"at"` // in seconds; below 0 before the origin
	GPUs int   `json:"gpus"`
	What What  `json:"what"`
}

// Ended reports whether the job has ended.
func (t *Track) Ended() bool { return t.Steps[len(t.Steps)-1].What.Ends() }

// A What is the kind of a Step or of a NodeChange.
type What string

// The kinds of steps.
const (
	Submitted What = "submitted"
	Started   What = "started" // or started again
	Grown     What = "grown"
	Shrunk    What = "shrunk"
	Moved     What = "moved"
	Preempted What = "preempted"
	lost      What = "lost" // a failure took its GPUs
	Done      What = "done"
	Failed    What = "failed"
	cancelled What = "cancelled"
	Ended     What = "ended" // the outcome is unknown
)

// Ends reports whether a step of this kind ends the job.
func (w What) Ends() bool { return w == Done || w == Failed || w == cancelled || w == Ended }

// The kinds of changes of nodes.
const (
	Joined What = "joined"
	Left   What = "left"
	Closed What = "closed" // it starts no jobs
	Opened What = "opened"
)

// A NodeChange is when a node joined, left, closed or opened.
type NodeChange struct {
	At   int64  `json:"at"` // in seconds
	Node string `json:"node"`
	What What   `json:"what"`
}
