package page

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler/explain"
	"github.com/oxgang/oxgang/scheduler/journal"
)

// A Source is what a page shows. Its methods may be called at the same time.
type Source interface {
	// Live reports whether the source has a present. Times that are asked of it are not used then.
	Live() bool
	// Overview returns the state at a time since the start of the source.
	Overview(ctx context.Context, at time.Duration) (*Overview, error)
	// Job returns what became of a job, and its moment at a time. The error is ErrUnknown if there is
	// no such job.
	Job(ctx context.Context, id job.ID, at time.Duration) (*Job, error)
	// Log writes the last lines of the output of a job. The error is ErrUnknown if there is none.
	Log(ctx context.Context, id job.ID, w io.Writer) error
	// Series returns GPUs and jobs over time.
	Series(ctx context.Context) (*Series, error)
}

// ErrUnknown says that a source does not have a job, or not its output.
var ErrUnknown error = unknown{}

type unknown struct{}

// Error implements error.
func (unknown) Error() string { return "not known here" }

// An Overview is a Status as the page wants it. The page counts times from Begun.
type Overview struct {
	*status.Status
	Begun   time.Time       `json:"begun"`
	Elapsed journal.Seconds `json:"elapsed"` // from Begun to the time of the Status
	Last    journal.Seconds `json:"last"`    // from Begun to the end of a recording
	Live    bool            `json:"live"`
	// Asks says that the source answers what would be: see Asker.
	Asks bool `json:"asks,omitempty"`
	// Acts says that the page can cancel jobs: see Actor.
	Acts bool `json:"acts,omitempty"`
	// Cancelling says what becomes of a job that is cancelled; empty: its processes are told to end.
	Cancelling string `json:"cancelling,omitempty"`
}

// LiveOverview returns the Overview of a source with a present. Its times count from 1970.
func LiveOverview(s *status.Status) *Overview {
	s.Fill()
	at := Since1970(s.At)
	return &Overview{Status: s, Begun: time.Unix(0, 0).UTC(), Elapsed: at, Last: at, Live: true}
}

// Since1970 returns a time as a live source has it; 0 for the zero time.
func Since1970(t time.Time) journal.Seconds {
	if t.IsZero() {
		return 0
	}
	return journal.Seconds(t.Sub(time.Unix(0, 0)))
}

// A Job is what became of a job. Life is nil where the source does not know it.
type Job struct {
	Begun  time.Time       `json:"begun"` // from when the times of Life and Moment count
	Life   *explain.Story  `json:"life,omitempty"`
	Moment json.RawMessage `json:"moment,omitempty"` // an explain.Story; nil: not known
	Job    *status.Job     `json:"job,omitempty"`    // its state now, from a source without a Moment
}
