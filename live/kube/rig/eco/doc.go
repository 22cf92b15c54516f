// Package eco starts the controllers of training jobs in a cluster of package rig: JobSet v0.12.0, Kubeflow
// Trainer v2.3.0, Kueue v0.19.2, KubeRay v1.6.2 and Karpenter v1.13.0.
//
// # Mutable fields
//
// Of a suspended job (in brackets: of a running one, if not "no"):
//
//	                                   Job          JobSet        TrainJob
//	annotations of the object          yes (yes)    yes (yes)     yes (yes)
//	labels, annotations of its pods    yes          yes           as runtime patch
//	scheduling gates                   yes          yes           as runtime patch
//	node selector, tolerations         yes          yes           as runtime patch
//	affinity                           yes          no            as runtime patch, see below
//	requests, limits of containers     yes          no            no
//	environment, image                 no           no            no
//	pods: parallelism = completions    yes (yes)    no, see below no
//
// All can be changed and resumed in one update. A Job's pods cannot change in the update that suspends it, but can
// right after. With JobSet's feature gate ElasticJobSet (alpha, off), Indexed jobs can be resized, even while they
// run. When a JobSet is resumed, labels, gates, selectors and tolerations are merged into its existing Jobs: equal
// names are replaced, and none is removed.
//
// A TrainJob's spec.trainer is immutable. Mutable are spec.suspend and spec.runtimePatches, a list by manager
// whose entries patch pods of a replicated job by name. Patches can only change if the job is suspended before or
// after the update and nothing of its JobSet is active. Entries of other managers must stay: Kueue's Workload
// depends on the entry of kueue.x-k8s.io/manager. An affinity is accepted, but the existing JobSet rejects it.
//
// A TrainJob created with a quantity that is not a string (cpu: 1) can only get a runtime patch if it was created
// with one: Trainer's webhook writes the quantity as "1", which counts as a change of spec.trainer.
//
// # How Kueue holds jobs
//
// The annotation kueue.x-k8s.io/admission-gated-by lists who holds a job: paths with a domain, at most 63
// characters each, separated by commas. Its feature gate AdmissionGatedBy is beta and on since 0.19. Names can be
// removed later, but not added. Until then the Workload has no quota and condition AdmissionGated, and follows
// changes of the job.
//
// Only Kueue may resume a held job; otherwise it suspends the job and resets its template. Changing and releasing
// a job in one update works.
//
// Kueue resumes an admitted job whenever somebody else suspends it. To stop it, set spec.active of its Workload to
// false: the job is suspended and keeps its template. A Job that is resized while it runs is stopped and admitted
// again. With the annotation kueue.x-k8s.io/elastic-job (gate ElasticJobsViaWorkloadSlices, on since 0.18) it
// shrinks at once, and grows by a second Workload, a slice: the gate kueue.x-k8s.io/elastic-job holds its new pods
// until the slice is admitted. Kueue 0.19 then updates only the number of pods in the Workload, so the annotation
// that holds the Job must be removed from both.
package eco
