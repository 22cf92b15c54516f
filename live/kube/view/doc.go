// Package view shows the scheduler's decisions in a Kubernetes cluster. It calls the user's kubectl, with its
// contexts, plugins and permissions, and imports no Kubernetes libraries.
package view
