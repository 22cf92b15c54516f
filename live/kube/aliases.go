package kube

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/oxgang/oxgang/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/config"
	"github.com/oxgang/oxgang/live/kube/execute"
	"github.com/oxgang/oxgang/live/kube/observe"
	"github.com/oxgang/oxgang/live/kube/planstore"
)

// Options configure a World.
type Options = config.Options

// Because is why a job has what it has.
type Because = config.Because

// Expected is what is expected of a job.
type Expected = config.Expected

// DefaultOptions returns the defaults; Queue and Identity are still to be filled in.
func DefaultOptions() Options { return config.DefaultOptions() }

// ErrWatches says that the watches do not show what the API server has, and will not by themselves.
var ErrWatches = observe.ErrWatches

// ErrFenced says that another leader has planned since: this one must not any more.
var ErrFenced = planstore.ErrFenced

// Tolerations returns those of a queue, as pods have them.
func Tolerations(q *v1alpha1.Queue) []corev1.Toleration { return execute.Tolerations(q) }
