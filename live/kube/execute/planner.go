package execute

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/jobstate"
)

// A Planner computes the next steps towards the committed plan. The caller of its methods must hold Writer.Mu.
type Planner struct {
	*Writer

	table *jobstate.Table
}

// NewPlanner returns a Planner for the jobs of table t, whose steps w carries out.
func NewPlanner(w *Writer, t *jobstate.Table) *Planner { return &Planner{w, t} }

// A Writer carries out steps by writing to the cluster.
type Writer struct {
	Options *jobstate.Options
	Client  client.Client
	Direct  client.Reader
	Mu      sync.Locker // guards Unseen, and the jobs
	// Unseen has the resource versions that the watches have not shown yet.
	Unseen map[types.UID]uint64
	// Refused is called when pods of a job cannot be created. The lock is held.
	Refused  func(j *jobstate.Job, why string)
	refusals refusals
	// GivenUp is called when a job cannot be started. The lock is held.
	GivenUp func(j *jobstate.Job, why string)
}
