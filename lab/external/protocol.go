package external

import (
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// Version is the version of the protocol.
const Version = 1

// A Question describes one round to the other process. Times are in seconds.
type Question struct {
	Round int     `json:"round"`
	Now   float64 `json:"now_s"`    // since the first question
	Span  float64 `json:"length_s"` // length of the round
	// JobTime is job-seconds since the last question.
	JobTime float64 `json:"job_s"`
	GPUs    []GPUs  `json:"gpus"`
	Jobs    []Job   `json:"jobs"` // waiting or running, by submission
}

// GPUs are the GPUs of one type in the cluster.
type GPUs struct {
	Type    cluster.GPUType `json:"type"`
	Total   int             `json:"total"`
	PerNode int             `json:"per_node"` // of the largest node
}

// A Job is a waiting or running job in a Question.
type Job struct {
	ID        job.ID          `json:"id"`
	Class     job.Class       `json:"class,omitempty"`
	User      string          `json:"user,omitempty"`
	Queue     string          `json:"queue,omitempty"`
	Submitted float64         `json:"submitted_s"` // since the first question
	Requested int             `json:"gpus"`        // requested
	Sizes     []Sizes         `json:"sizes"`       // possible numbers of GPUs, by type
	Held      int             `json:"held_gpus"`   // 0 if it waits
	HeldType  cluster.GPUType `json:"held_type,omitempty"`
	Service   float64         `json:"service_gpu_s"` // GPU time received so far
	Restarts  int             `json:"restarts"`
	Restart   float64         `json:"restart_s"`   // time that a start or a change of GPUs takes
	Remaining float64         `json:"remaining_s"` // estimated, on the requested GPUs
	Fixed     bool            `json:"fixed"`       // the job's GPUs cannot change this round
}

// Sizes are the numbers of GPUs of a type that a job could get in an empty cluster.
type Sizes struct {
	Type  cluster.GPUType `json:"type"`
	Least int             `json:"least"`
	Most  int             `json:"most"`
	Step  int             `json:"step"`
}

// An Answer lists the jobs that get GPUs, the most important first. All other jobs get nothing.
type Answer struct {
	Jobs []Grant `json:"jobs"`
}

// A Grant states which GPUs a job gets, if enough GPUs are free.
type Grant struct {
	ID job.ID `json:"id"`
	// GPUs is rounded down to a possible number; if there is none, the job waits. Nil: the possible number nearest to
	// the request.
	GPUs *int `json:"gpus"`
	// Type may be empty: the type that the job holds, or else the type with free GPUs on which it is fastest.
	Type cluster.GPUType `json:"type"`
}

// A Meter is a scheduler.Observer that sums the time from submission to end of all jobs: n jobs for t seconds are n·t
// job-seconds. The zero value is ready to use. A Meter is not safe for concurrent use.
type Meter struct {
	active  int
	at      time.Time
	seconds float64 // since Take
}

// Take returns the job-seconds from the last Take until now.
func (m *Meter) Take(now time.Time) float64 {
	m.advance(now)
	seconds := m.seconds
	m.seconds = 0
	return seconds
}

func (m *Meter) advance(now time.Time) {
	if !m.at.IsZero() && now.After(m.at) {
		m.seconds += float64(m.active) * now.Sub(m.at).Seconds()
	}
	if m.at.IsZero() || now.After(m.at) {
		m.at = now
	}
}

// Event implements scheduler.Observer.
func (m *Meter) Event(now time.Time, ev scheduler.Event) {
	m.advance(now)
	switch ev := ev.(type) {
	case scheduler.Submitted:
		m.active++
	case scheduler.Exited:
		if ev.Outcome != scheduler.Lost {
			m.active--
		}
	}
}

// Round implements scheduler.Observer.
func (m *Meter) Round(s *policy.Snapshot, _ *policy.Plan, _ []scheduler.Action) { m.advance(s.Now) }

// Rest returns the job-seconds from the last Take until the last event.
func (m *Meter) Rest() float64 { return m.Take(m.at) }
