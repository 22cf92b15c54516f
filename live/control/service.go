package control

import (
	"context"
	"encoding/json"
	"io"

	"github.com/oxgang/oxgang/job"
)

// A Service is a scheduler that runs jobs on this machine, as the commands see it. Its
// methods may be called side by side. Errors that are an *Error are shown as such, any
// other as a fault of the scheduler.
type Service interface {
	// Submit accepts a job, durably, under a name of its own (Unique). The request has
	// been validated, and fits what Top says of the machine.
	Submit(ctx context.Context, r *Request) (job.ID, error)
	// Jobs returns the jobs in order of acceptance; with all also those that ended.
	Jobs(all bool) []View
	// Job returns one of them, or Unknown.
	Job(id job.ID) (View, error)
	// Explain says why a job waits or has what it has.
	Explain(ctx context.Context, id job.ID) (*Explanation, error)
	// Log writes the last lines of what a job's workers said; follow: and what they say,
	// until the job has ended or ctx has.
	Log(ctx context.Context, id job.ID, lines int, follow bool, w io.Writer) error
	// Cancel makes a job end soon. It is an error if it has ended.
	Cancel(ctx context.Context, id job.ID) error
	Top() Top
}

// An Explanation is why a job is as it is.
type Explanation struct {
	Text  string          `json:"text"`
	Story json.RawMessage `json:"story,omitempty"` // an explain.Story; nil: there is only text
}
