// Package v1alpha1 is the Kubernetes API of Oxgang.
//
// A Queue configures a pool of nodes and its users. A Plan is the scheduler's decision for a queue. The single
// ClusterPolicy configures all queues. Jobs, JobSets, TrainJobs and RayJobs name their queue in a label, and set
// options in annotations. All numbers are integers; fractions are in milli units.
//
// +kubebuilder:object:generate=true
// +groupName=oxgang.dev
//
//go:generate go tool -modfile=../../../../internal/tools/crd/go.mod controller-gen object crd paths=. output:crd:dir=../../../../deploy/charts/oxgang/crds
package v1alpha1
