package execute

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/config"
	"github.com/oxgang/oxgang/live/kube/jobstate"
)

// A Planner says which steps bring the cluster closer to the committed plan. Its owner holds the
// lock while it is asked; it writes nothing.
type Planner struct {
	*Writer // that carries the steps out

	table *jobstate.Table
}

// NewPlanner returns a Planner of a table, whose steps are carried out by a writer.
func NewPlanner(w *Writer, t *jobstate.Table) *Planner { return &Planner{w, t} }

// A Writer writes to the objects of the cluster.
type Writer struct {
	Options *config.Options
	Client  client.Client
	Direct  client.Reader // reads come from the API server
	Mu      sync.Locker   // guards Unseen, and the jobs
	// Unseen has the resource versions that the watches have yet to show.
	Unseen map[types.UID]uint64
	// Refused is told that pods of a job cannot be made, and why. The lock is held.
	Refused  func(j *jobstate.Job, why string)
	refusals refusals
	// GivenUp is told that a job cannot be started, and why. The lock is held.
	GivenUp func(j *jobstate.Job, why string)
}
