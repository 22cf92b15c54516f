package page

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler/explain"
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

// An Overview is the state at one time, as the page wants it.
type Overview struct {
	*explain.Overview
	Title string `json:"title"` // the machine, or the journal
	Live  bool   `json:"live"`
	// Asks says that the source answers what would be: see Asker.
	Asks bool `json:"asks,omitempty"`
	// Acts says that the page can cancel jobs: see Actor.
	Acts bool `json:"acts,omitempty"`
	// Cancelling says what becomes of a job that is cancelled; empty: its processes are told to end.
	Cancelling string `json:"cancelling,omitempty"`
	// Notes say what is not shown, because who runs this program may not see it.
	Notes []string `json:"notes,omitempty"`
	// Banner is a problem that concerns all jobs; empty: there is none.
	Banner string `json:"banner,omitempty"`
}

// A Job is what became of a job. Life is nil where the source does not know it.
type Job struct {
	Begun  time.Time       `json:"begun"` // from when the times of Life and Moment count
	Life   *explain.Story  `json:"life,omitempty"`
	Moment json.RawMessage `json:"moment,omitempty"` // an explain.Story; nil: not known
}
