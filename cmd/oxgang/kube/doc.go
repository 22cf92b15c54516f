// Package kube holds the commands that show what the scheduler of a Kubernetes cluster decided.
package kube
