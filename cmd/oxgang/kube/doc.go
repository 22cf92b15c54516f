// Package kube has the commands of oxgang for Kubernetes clusters.
package kube
