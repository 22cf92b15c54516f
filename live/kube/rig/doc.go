// Package rig starts real Kubernetes control planes, fake and real nodes, and the controllers
// that training jobs come from, as processes of this machine, for tests.
//
// Build makes the programs, of the versions that module binaries pins, from the Go module
// proxy alone. Start runs etcd, kube-apiserver, kube-controller-manager, kube-scheduler and
// kwok on free loopback ports, with certificates made for this one cluster. All of them die
// with the process that started them. kwok stands in for the kubelets of the fake nodes: a
// pod that is bound runs at once, ends when an annotation says so, and is let go when it is
// deleted; a node that is lost does none of that.
//
// # What the Job controller does
//
// Found by TestJobControllerCountsFailures and TestSuspendedJobIsResizedAndResumed, on 1.36.3,
// of Indexed Jobs with restartPolicy Never:
//
//   - Suspended: its pods are deleted and never counted as failures, however they end, also
//     where backoffLimit is 0 or the Job is resumed before they have ended. Resumed, it has
//     new pods at once.
//   - Fewer completions and parallelism: likewise, of the pods that are over.
//   - A pod that is evicted ends as Failed. It is counted in status.failed, and with a
//     backoffLimit of 0 the Job fails, whereupon its other running pods are counted too.
//     That the Job is suspended before the evicted pod has ended changes none of it.
//   - With a podFailurePolicy that ignores DisruptionTarget an eviction is not counted, and
//     the Job does not fail. A pod that is deleted without the Eviction API has no such
//     condition, and is counted all the same.
//   - Each evicted pod, ignored or not, doubles the time for which the Job gets no new pods:
//     10 s, 20 s and so on, at most 10 minutes, also if it was suspended and resumed in between.
//     Measured: a Job of 4 pods that was suspended and resumed has its pods back after 0.1 s;
//     if one was evicted before, after 9 s; if all 4 were, after 80 s.
//   - A Job that is deleted while its pods are made, and made again under its name at once, may have no pods:
//     the controller still waits, by that name, for those of the Job before, and has a limit of 5 minutes for that.
//     Seen with 3 of 50 such Jobs on a busy machine; with the gates of Options.Gangs, and without.
//   - The template (labels, annotations, gates, node selection, requests) may be changed while
//     the Job is suspended, has no active pods and has the condition Suspended, or was never
//     started. Size, template and suspend=false may be one write.
package rig
