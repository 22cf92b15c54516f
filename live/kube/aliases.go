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

// Reasons explain the allocations of jobs.
type Reasons = config.Reasons

// Expected is the prediction for a job.
type Expected = config.Expected

// DefaultOptions returns the defaults. The caller sets Queue and Identity.
func DefaultOptions() Options { return config.DefaultOptions() }

// ErrWatches means that the watches have missed changes. Only a restart helps.
var ErrWatches = observe.ErrWatches

// ErrFenced means that another leader has written a plan, so this one must stop planning.
var ErrFenced = planstore.ErrFenced

// Tolerations returns the tolerations of a queue, in the form used by pods.
func Tolerations(q *v1alpha1.Queue) []corev1.Toleration { return execute.Tolerations(q) }
