// Package eco starts the controllers that training jobs come from beside a cluster of package
// rig: JobSet v0.12.0, Kubeflow Trainer v2.3.0, Kueue v0.19.2 and KubeRay v1.6.2, their kinds and webhooks from
// the modules that they are built from; and Karpenter v1.13.0, whose nodes kwok plays. Its tests record what of a job another controller may
// change, and when; live/kube/jobadapter depends on it.
//
// # What may be changed
//
// Of a job that is suspended (of one that runs, in brackets, where that is more than nothing):
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
// A Job and a JobSet are resumed in the same update as they are changed, and so is a
// TrainJob. A Job's pods cannot change in the update that suspends it, and can right after.
// JobSet's feature gate ElasticJobSet (alpha, off) lets the size of Indexed jobs change, also while
// they run: ElasticJobSet is JobSet with it. When a
// JobSet is resumed, labels, gates, selectors and tolerations are merged into the Jobs that it
// has: those of the same name are replaced, none is taken away.
//
// Of a TrainJob, spec.trainer cannot change at all: not numNodes, not resourcesPerNode. What
// can are spec.suspend and spec.runtimePatches, a list by manager, whose entries patch pods of
// a replicated job by name; the latter only if the job is suspended before or after, and
// nothing of its JobSet is active. Entries of others have to stay: Kueue's Workload depends on
// that of kueue.x-k8s.io/manager. An affinity is accepted there, but not by the JobSet that
// exists, so it has no effect but errors.
//
// A TrainJob that was made with a quantity that is no string (cpu: 1, as people write it) can
// never be given a runtime patch: Trainer's webhook then writes it as "1", which is taken for
// a change of spec.trainer. One that has a runtime patch when it is made, be it an empty one,
// is written so from the beginning, and can.
//
// # How Kueue holds jobs back
//
// The annotation kueue.x-k8s.io/admission-gated-by names who holds a job back: paths with a
// domain, of 63 characters at most, separated by commas. Kueue's feature gate AdmissionGatedBy
// is beta and on since 0.19. It holds for every kind that Kueue manages; it was tried with Job,
// JobSet and TrainJob. The annotation must be there when the job is made; after that, names
// can be taken away and none added. Meanwhile the Workload, which exists, has no quota and
// says AdmissionGated; the job may be changed as the table says, and the Workload follows.
//
// A job that is held back must not be resumed by others than Kueue: it suspends it again, and
// puts a Job's template back to what its Workload says, without labels and gates that came
// later. To change it and to let go of it in one update works.
//
// Once Kueue admitted a job, Kueue resumes it, and does so again if another suspends it. To stop
// it, spec.active of its Workload is set to false: the job is suspended and keeps its template.
// A Job whose size changes while it runs is stopped and admitted anew: no pod stays. Not so one with the annotation
// kueue.x-k8s.io/elastic-job (gate ElasticJobsViaWorkloadSlices, on since 0.18): it shrinks at once, and grows by a second
// Workload, a slice, until the admission of which Kueue's gate kueue.x-k8s.io/elastic-job holds its new pods. Of its
// Workload Kueue 0.19 changes nothing but the number of pods: not the annotation that holds it back, which whoever takes that off
// the Job has to take off the Workload, too.
package eco
