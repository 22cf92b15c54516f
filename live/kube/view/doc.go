// Package view shows the scheduler's decisions in a Kubernetes cluster. It calls the user's kubectl, and so uses the
// user's contexts, credential plugins and permissions. It decodes only the fields that it shows, and imports no
// Kubernetes libraries.
package view
