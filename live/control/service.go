package control

import (
	"context"
	"encoding/json"
	"io"

	"github.com/oxgang/oxgang/live/local/statedir"
	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// A Service is a scheduler that runs jobs on this machine, as the commands use it. Its methods
// may be called at the same time. An *Error is shown as it is, any other error as a fault of
// the scheduler.
type Service interface {
	// Submit accepts a job, durably, and returns its ID: its name, with a number behind it if
	// another job has that. The request is valid, and fits the Node.
	Submit(ctx context.Context, r *Request) (job.ID, error)
	// Status returns the state of the machine and its jobs; with all also jobs that have ended.
	Status(all bool) *status.Status
	// Node returns what the machine has.
	Node() status.Node
	// Job returns a job, or Unknown.
	Job(id job.ID) (status.Job, error)
	// Explain says why a job waits or has what it has.
	Explain(ctx context.Context, id job.ID) (*Explanation, error)
	// Log writes the last lines of the output of a job's workers. With follow it goes on
	// with what they write, until the job has ended or ctx is done.
	Log(ctx context.Context, id job.ID, lines int, follow bool, w io.Writer) error
	// Cancel makes a job end soon. It is an error if it has ended.
	Cancel(ctx context.Context, id job.ID) error
	// Ask says what would be if something were otherwise, by simulation; nothing is done.
	Ask(ctx context.Context, q *Question) (json.RawMessage, error)
	// Prune deletes what is not kept of jobs that have ended, or says what would be deleted.
	Prune(ctx context.Context, r *PruneRequest) ([]statedir.Amount, error)
}

// A Question is what would be otherwise: one of a job that is cancelled, more nodes of a type, or a job with other GPUs. The answer
// is a whatif.Answer.
type Question struct {
	Cancel job.ID
	Nodes  int
	Type   cluster.GPUType
	Resize job.ID
	GPUs   int
}

// A PruneRequest asks for what is not kept to be deleted.
type PruneRequest struct {
	Keep   statedir.Limits `json:"keep,omitempty"` // other limits than the scheduler's, by category
	DryRun bool            `json:"dry_run,omitempty"`
}

// An Explanation says why a job has what it has.
type Explanation struct {
	Text  string          `json:"text"`
	Story json.RawMessage `json:"story,omitempty"` // an explain.Story; nil: there is only text
}
