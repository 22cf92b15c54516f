// Package kube has the commands for Kubernetes clusters.
package kube
