// Package manager is the scheduler process of a Kubernetes cluster: one of several leads, and
// runs, for every Queue that is not off, the loop of package scheduler over the world of
// package kube. It says of each Queue how that stands, and answers agents and people.
package manager
