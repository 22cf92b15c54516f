// Package jobadapter reads and changes the Kubernetes objects of jobs through one interface, Kind. A worker is a pod
// with GPUs; other pods are ignored. Changes are made in memory; the caller patches the difference. Start stores the
// user's original size in an annotation (v1alpha1.Asked), which is valid until someone else changes the size.
//
// The package reads no clock and makes no requests. The API server does not validate all user input, so numbers are
// bounded here, and Job.Problem reports invalid input.
package jobadapter
