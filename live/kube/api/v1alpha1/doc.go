// Package v1alpha1 is the Kubernetes API of Oxgang: what a cluster's administrators say to
// the scheduler, and what it says back.
//
// A Queue is a pool of nodes, those who may use it and how it is shared. A Plan is what the
// scheduler decided for a queue: written by compare-and-swap, it is the only commit point.
// A ClusterPolicy, of which there is one, holds what all queues have in common. Jobs are no
// kind of ours: batch/v1 Jobs, JobSets, TrainJobs and RayJobs name their queue in a label and
// say in annotations what may be adapted (annotations.go).
//
// All numbers are integers: milli units where they have fractions.
//
// +kubebuilder:object:generate=true
// +groupName=oxgang.dev
//
//go:generate go tool -modfile=../../../../internal/tools/crd/go.mod controller-gen object crd paths=. output:crd:dir=../../../../deploy/charts/oxgang/crds
package v1alpha1
