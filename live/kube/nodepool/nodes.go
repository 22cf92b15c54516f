package nodepool

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/config"
	"github.com/oxgang/oxgang/live/kube/execute"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/kube/observe"
	"github.com/oxgang/oxgang/live/kube/planstore"
)

// Nodes are those that a queue rents, and those that it has on loan: what the committed plan wants of
// them, and which steps bring them there. Its owner holds the lock while it is asked.
type Nodes struct {
	Options *config.Options
	Client  client.Client
	Mu      sync.Locker
	Writer  *execute.Writer
	Store   *planstore.Store
	Table   *jobstate.Table
	// IsOurs reports whether a pod is, or was, one of a job of the queue.
	IsOurs func(*observe.Observation) func(*corev1.Pod) bool
	Lose   func(j *jobstate.Job, why string) // gives back what a job holds
	Rented rentedNodes
	Loans  LoanState
}
