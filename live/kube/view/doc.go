// Package view shows people what the scheduler of a Kubernetes cluster decided. It asks the
// cluster through the user's own kubectl, so that contexts, plugins for credentials and
// permissions are the user's, and reads of its answers the few fields that it shows: nothing
// here imports Kubernetes.
package view
