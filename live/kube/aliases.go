package kube

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/config"
	"github.com/oxgang/oxgang/live/kube/execute"
	"github.com/oxgang/oxgang/live/kube/observe"
	"github.com/oxgang/oxgang/live/kube/planstore"
)

// Options configure a Backend.
type Options = config.Options

// Reasons say why jobs have what they have.
type Reasons = config.Reasons

// Expected is the prediction for a job.
type Expected = config.Expected

// DefaultOptions returns the defaults; Queue and Identity are still to be filled in.
func DefaultOptions() Options { return config.DefaultOptions() }

// ErrWatches says that the watches have missed changes, and will not show them without a restart.
var ErrWatches = observe.ErrWatches

// ErrFenced says that another leader has written a plan since, so that this one must not plan any more.
var ErrFenced = planstore.ErrFenced

// Tolerations returns the tolerations of a queue, in the form in which pods have them.
func Tolerations(q *v1alpha1.Queue) []corev1.Toleration { return execute.Tolerations(q) }
