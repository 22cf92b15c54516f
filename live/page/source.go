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

// A Source provides the state of a cluster that the live page shows. Its methods may be called concurrently.
type Source interface {
	// Live reports whether the source shows the present and ignores times.
	Live() bool
	Overview(ctx context.Context, at time.Duration) (*Overview, error)
	// Job returns the history of a job, and its moment at a time, or ErrUnknown.
	Job(ctx context.Context, id job.ID, at time.Duration) (*Job, error)
	// Log writes the last lines of the output of a job, or returns ErrUnknown.
	Log(ctx context.Context, id job.ID, w io.Writer) error
	// Series returns GPUs and jobs over time.
	Series(ctx context.Context) (*Series, error)
	// Timeline returns what jobs held over time.
	Timeline(ctx context.Context) (*status.Timeline, error)
}

// ErrUnknown is returned for an unknown job, or if a job has no output.
var ErrUnknown error = unknown{}

type unknown struct{}

func (unknown) Error() string { return "unknown here" }

// An Overview is the state of a cluster in the form of the page. Times count from Begun.
type Overview struct {
	*status.Status
	Begun   time.Time       `json:"begun"`
	Elapsed journal.Seconds `json:"elapsed"` // until the time of the Status
	Last    journal.Seconds `json:"last"`    // until the end of a recording
	Live    bool            `json:"live"`
	// Stale states why the present state is unknown; the Status is then the last known one. Empty: it is known.
	Stale string `json:"stale,omitempty"`
	// Asks is set if the source is an Asker.
	Asks bool `json:"asks,omitempty"`
	// Acts is set if the page can cancel jobs.
	Acts bool `json:"acts,omitempty"`
	// Retries is set if the page can submit failed jobs again.
	Retries bool `json:"retries,omitempty"`
	// NoOutput states why the page cannot show the output of jobs; empty: it can.
	NoOutput string `json:"no_output,omitempty"`
	// Cancelling describes the effect of cancelling a job, if it is more than asking its processes to end.
	Cancelling string `json:"cancelling,omitempty"`
}

// liveOverview converts the state of a live scheduler into an Overview. Times count from 1970.
func liveOverview(s *status.Status) *Overview {
	s.Fill()
	at := since1970(s.At)
	return &Overview{Status: s, Begun: time.Unix(0, 0).UTC(), Elapsed: at, Last: at, Live: true}
}

// since1970 converts a time into seconds since 1970. The zero time becomes 0.
func since1970(t time.Time) journal.Seconds {
	if t.IsZero() {
		return 0
	}
	return journal.Seconds(t.Sub(time.Unix(0, 0)))
}

// A Job is what the page shows about one job. Life may be nil.
type Job struct {
	Begun  time.Time       `json:"begun"` // origin of times
	Life   *explain.Story  `json:"life,omitempty"`
	Moment json.RawMessage `json:"moment,omitempty"` // an explain.Story; may be nil
	Job    *status.Job     `json:"job,omitempty"`    // from a source without a Moment
}
