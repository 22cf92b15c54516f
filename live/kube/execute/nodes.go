package execute

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/kube/observe"
	"github.com/oxgang/oxgang/live/kube/planstore"
)

// Nodes manages a queue's rented and borrowed nodes. The caller of its methods must hold Mu.
type Nodes struct {
	Options *jobstate.Options
	Client  client.Client
	Mu      sync.Locker
	Writer  *Writer
	Store   *planstore.Store
	Table   *jobstate.Table
	// IsOurs reports whether a pod belongs or belonged to a job of the queue.
	IsOurs func(*observe.Observation) func(*corev1.Pod) bool
	Lose   func(j *jobstate.Job, why string)
	Rented rentedNodes
	Loans  LoanState
}
