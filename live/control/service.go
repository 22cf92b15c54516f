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

// A Service is the scheduler of one machine. Its methods may be called concurrently. If a method returns an *Error, the
// user sees it; other errors are failures of the scheduler.
type Service interface {
	// Submit stores a valid request that fits the Node, and returns its ID.
	Submit(ctx context.Context, r *Request) (job.ID, error)
	// Status returns the state of the machine and its jobs; with all, ended jobs too.
	Status(all bool) *status.Status
	// Node returns what the machine has.
	Node() status.Node
	// Job returns a job, or Unknown.
	Job(id job.ID) (status.Job, error)
	// Explain returns why a job waits or runs.
	Explain(ctx context.Context, id job.ID) (*Explanation, error)
	// Log writes the last lines of a job's output. With follow it adds new lines until the job ends or ctx is done.
	Log(ctx context.Context, id job.ID, lines int, follow bool, w io.Writer) error
	// Cancel ends a job soon.
	Cancel(ctx context.Context, id job.ID) error
	// Ask answers a what-if question by simulation.
	Ask(ctx context.Context, q *Question) (json.RawMessage, error)
	// Try returns a whatif.TrialAnswer: when a job would start. Nothing is submitted.
	Try(ctx context.Context, spec *job.Spec) (json.RawMessage, error)
	// Prune deletes old data of ended jobs, or returns what would be deleted.
	Prune(ctx context.Context, r *PruneRequest) ([]statedir.Amount, error)
}

// A Question asks what would happen if a job were cancelled, if nodes of a type were added, or if a job had another
// number of GPUs.
type Question struct {
	Cancel job.ID
	Nodes  int
	Type   cluster.GPUType
	Resize job.ID
	GPUs   int
}

// A PruneRequest asks to delete old data.
type PruneRequest struct {
	Keep   statedir.Limits `json:"keep,omitempty"` // replaces the scheduler's limits, by category
	DryRun bool            `json:"dry_run,omitempty"`
}

// An Explanation states why a job waits or runs.
type Explanation struct {
	Text    string          `json:"text"`
	Details string          `json:"details,omitempty"` // prices and weights behind the reasons
	Story   json.RawMessage `json:"story,omitempty"`   // an explain.Story; may be nil
}
