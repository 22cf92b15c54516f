// Package rig starts real Kubernetes control planes, fake and real nodes, and the controllers of training jobs as
// processes of this machine, for tests.
//
// Build builds the programs at the versions that module binaries pins, using only the Go module proxy. Start runs
// etcd, kube-apiserver, kube-controller-manager, kube-scheduler and kwok on free loopback ports. They die with the
// process that started them. kwok simulates the kubelets of fake nodes: a bound pod runs at once, ends by an
// annotation, and disappears when deleted, except on a lost node.
//
// # Behaviour of the Job controller
//
// Found by TestJobControllerCountsFailures and TestSuspendedJobIsResizedAndResumed on 1.36.3, for Indexed Jobs
// with restartPolicy Never:
//
//   - Suspending deletes the pods and never counts them as failures, even with backoffLimit 0 or if the Job is
//     resumed before they end. A resumed Job gets new pods at once. The same holds for surplus pods after
//     completions and parallelism are reduced.
//   - An evicted pod ends as Failed and counts in status.failed. With backoffLimit 0 the Job fails, and its
//     other running pods count too. Suspending before the evicted pod has ended does not change this.
//   - With a podFailurePolicy that ignores DisruptionTarget, an eviction does not count and the Job does not
//     fail. A pod deleted without the Eviction API has no such condition and counts.
//   - Each evicted pod, ignored or not, doubles the time until the Job gets new pods: 10 s, 20 s and so on, up
//     to 10 minutes, even across suspend and resume.
//   - A Job that is deleted while its pods are created, and recreated with the same name at once, may get no
//     pods: the controller waits up to 5 minutes for the pods of the old Job.
//   - The template (labels, annotations, gates, node selection, requests) can be changed while the Job has no
//     active pods and is Suspended, or was never started. Size, template and suspend=false can be one write.
package rig
