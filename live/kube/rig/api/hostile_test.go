package api

import "fmt"

const (
	job      = "apiVersion: batch/v1\nkind: Job\n"
	jobSet   = "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\n"
	trainJob = "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\n"
	rayJob   = "apiVersion: ray.io/v1\nkind: RayJob\n"
	pod      = "apiVersion: v1\nkind: Pod\n"
	node     = "apiVersion: v1\nkind: Node\n"

	body = "\nspec: {template: {spec: {restartPolicy: Never, containers: [{name: train, image: train, resources: {limits: {nvidia.com/gpu: 1}}}]}}}"
	part = "\nspec: {template: {spec: {restartPolicy: Never, containers: [{name: train, image: train, resources: {limits: {nvidia.com/mig-1g.10gb: 1}}}]}}}"
	set  = "\nspec: {replicatedJobs: [{name: w, template: {spec: {template: {spec: {restartPolicy: Never, initContainers: [{name: i, image: i, resources: {limits: {nvidia.com/gpu: 1}}}], containers: [{name: c, image: c}]}}}}}]}"
	gpus = "\nspec: {containers: [{name: train, image: train, resources: {limits: {nvidia.com/gpu: 1}}}]}"
)

// ray is a RayJob whose workers each have one of a device.
func ray(device string) string {
	group := "template: {spec: {containers: [{name: ray, image: ray, resources: {limits: {%s: 1}}}]}}"
	return "metadata: {namespace: team-a, name: x, labels: {oxgang.dev/queue: elastic}}\nspec: {entrypoint: train, rayClusterSpec: {headGroupSpec: {rayStartParams: {}, " +
		fmt.Sprintf(group, "cpu") + "}, workerGroupSpecs: [{groupName: w, replicas: 2, minReplicas: 0, maxReplicas: 2, rayStartParams: {}, " + fmt.Sprintf(group, device) + "}]}}"
}

// hostile are requests that each have to be refused, and by which rule.
var hostile = []attempt{
	{"scheduler without an epoch", scheduler, "patch", job + "metadata: {namespace: team-a, name: waits}\nspec: {suspend: false}", "oxgang-epoch/0", `got "", want the epoch of a plan`},
	{"scheduler with an epoch of letters", scheduler, "patch", job + "metadata: {namespace: team-a, name: waits, annotations: {oxgang.dev/epoch: new}}", "oxgang-epoch/0", `got "new"`},
	{"scheduler with a negative epoch", scheduler, "patch", pod + `metadata: {namespace: team-a, name: gated, annotations: {oxgang.dev/epoch: "-1"}}`, "oxgang-epoch/0", `got "-1"`},
	{"scheduler with an epoch beyond 64 bits", scheduler, "patch", pod + `metadata: {namespace: team-a, name: gated, annotations: {oxgang.dev/epoch: "99999999999999999999"}}`, "oxgang-epoch/0", `want the epoch of a plan`},
	{"old scheduler starts a job", scheduler, "patch", job + `metadata: {namespace: team-a, name: waits, annotations: {oxgang.dev/epoch: "4"}}` + "\nspec: {suspend: false}", "oxgang-epoch/1", "got 4, want at least 5, that of plan elastic"},
	{"old scheduler starts a JobSet", scheduler, "patch", jobSet + `metadata: {namespace: team-a, name: set, annotations: {oxgang.dev/epoch: "4"}}` + "\nspec: {suspend: false}", "oxgang-epoch/1", "got 4, want at least 5"},
	{"old scheduler opens a gate", scheduler, "patch", pod + `metadata: {namespace: team-a, name: gated, annotations: {oxgang.dev/epoch: "4"}}` + "\nspec: {schedulingGates: []}", "oxgang-epoch/1", "got 4, want at least 5"},
	{"old scheduler resizes a pod", scheduler, "resize", pod + "metadata: {namespace: team-a, name: older}\nspec: {containers: [{name: train, image: train, resources: {limits: {memory: 1Gi, nvidia.com/gpu: 4}, requests: {cpu: 2, memory: 1Gi, nvidia.com/gpu: 4}}}]}", "oxgang-epoch/1", "got 4, want at least 5"},
	{"old scheduler evicts", scheduler, "evict", pod + `metadata: {namespace: team-a, name: placed, labels: {oxgang.dev/queue: elastic}, annotations: {oxgang.dev/epoch: "4"}}`, "oxgang-epoch/1", "got 4, want at least 5"},

	{"tenant opens a gate", tenant, "patch", pod + "metadata: {namespace: team-a, name: gated}\nspec: {schedulingGates: []}", "oxgang-pod-marks/0", "only the scheduler removes oxgang.dev/placement"},
	{"tenant changes the generation of a pod", tenant, "patch", pod + `metadata: {namespace: team-a, name: gated, labels: {oxgang.dev/generation: "2"}}`, "oxgang-pod-marks/2", "labels of oxgang.dev"},
	{"tenant takes the job of a pod away", tenant, "patch", pod + "metadata: {namespace: team-a, name: gated, labels: {oxgang.dev/job-uid: null}}", "oxgang-pod-marks/2", "labels of oxgang.dev"},
	{"tenant gives a pod a job", tenant, "patch", pod + "metadata: {namespace: team-a, name: shell, labels: {oxgang.dev/job-uid: u1}}", "oxgang-pod-marks/1", "oxgang.dev/job-uid"},
	{"tenant takes the queue of a pod away", tenant, "patch", pod + "metadata: {namespace: team-a, name: placed, labels: {oxgang.dev/queue: null}}", "oxgang-pod-marks/2", "oxgang.dev/queue"},
	{"tenant gives a pod an epoch", tenant, "patch", pod + `metadata: {namespace: team-a, name: gated, annotations: {oxgang.dev/epoch: "99"}}`, "oxgang-pod-marks/3", "oxgang.dev/epoch"},
	{"tenant resizes a pod", tenant, "resize", pod + "metadata: {namespace: team-a, name: placed}\nspec: {containers: [{name: train, image: train, resources: {limits: {cpu: 2, memory: 1Gi, nvidia.com/gpu: 4}, requests: {cpu: 2, memory: 1Gi, nvidia.com/gpu: 4}}}]}", "oxgang-pod-marks/4", "keeps its resources"},
	{"tenant takes a pod from its job", tenant, "patch", pod + "metadata: {namespace: team-a, name: placed, ownerReferences: null}", "oxgang-pod-marks/5", "keeps its controller"},
	{"tenant makes a pod's controller an owner as others", tenant, "patch", pod + "metadata: {namespace: team-a, name: placed, ownerReferences: [{apiVersion: batch/v1, kind: Job, name: runs, uid: u1}]}", "oxgang-pod-marks/5", "keeps its controller"},
	{"tenant takes the label by which a job knows its pod", tenant, "patch", pod + "metadata: {namespace: team-a, name: placed, labels: {batch.kubernetes.io/controller-uid: null}}", "oxgang-pod-marks/6", "keeps the labels"},
	{"tenant brings a pod of a job", tenant, "create", pod + "metadata: {namespace: team-b, name: x, labels: {oxgang.dev/job-uid: u1}}\nspec: {containers: [{name: c, image: c}]}", "oxgang-pod-marks/7", "oxgang.dev/job-uid"},
	{"tenant brings a gated pod of a job", tenant, "create", pod + "metadata: {namespace: team-a, name: x, labels: {oxgang.dev/queue: elastic, oxgang.dev/job-uid: u1}}\nspec: {schedulingGates: [{name: oxgang.dev/placement}], containers: [{name: c, image: c}]}", "oxgang-pod-marks/7", "oxgang.dev/job-uid"},
	{"tenant brings a pod of a generation", tenant, "create", pod + "metadata: {namespace: team-a, name: x, labels: {oxgang.dev/generation: \"1\"}}\nspec: {containers: [{name: c, image: c}]}", "oxgang-pod-marks/7", "oxgang.dev/generation"},
	{"tenant brings a pod with an epoch", tenant, "create", pod + "metadata: {namespace: team-a, name: x, annotations: {oxgang.dev/epoch: \"99\"}}\nspec: {containers: [{name: c, image: c}]}", "oxgang-pod-marks/7", "oxgang.dev/epoch"},

	{"tenant brings an epoch", tenant, "create", job + `metadata: {namespace: team-a, name: x, annotations: {oxgang.dev/epoch: "99"}}` + body, "oxgang-job-marks/0", "oxgang.dev/epoch"},
	{"tenant changes the epoch of a job", tenant, "patch", job + `metadata: {namespace: team-a, name: runs, annotations: {oxgang.dev/epoch: "99"}}`, "oxgang-job-marks/0", "oxgang.dev/epoch"},
	{"tenant says what it asked for", tenant, "patch", job + `metadata: {namespace: team-a, name: waits, annotations: {oxgang.dev/asked: "{\"asked\":{\"workers\":64},\"granted\":{\"workers\":2}}"}}`, "oxgang-job-marks/0", "oxgang.dev/asked"},
	{"tenant changes the epoch of a JobSet", tenant, "patch", jobSet + `metadata: {namespace: team-a, name: set, annotations: {oxgang.dev/epoch: "99"}}`, "oxgang-job-marks/0", "oxgang.dev/epoch"},
	{"tenant brings a template with a generation", tenant, "create", job + "metadata: {namespace: team-a, name: x}\nspec: {template: {metadata: {labels: {oxgang.dev/generation: \"1\"}}, spec: {restartPolicy: Never, containers: [{name: train, image: train}]}}}", "oxgang-job-marks/1", "labels of the pod template"},
	{"tenant gives a template a job", tenant, "patch", job + "metadata: {namespace: team-a, name: waits}\nspec: {template: {metadata: {labels: {oxgang.dev/job-uid: u1}}}}", "oxgang-job-marks/1", "labels of the pod template"},
	{"tenant brings a JobSet with a job's uid", tenant, "create", jobSet + "metadata: {namespace: team-a, name: x}\nspec: {replicatedJobs: [{name: w, template: {spec: {template: {metadata: {labels: {oxgang.dev/job-uid: u1}}, spec: {restartPolicy: Never, containers: [{name: c, image: c}]}}}}}]}", "oxgang-job-marks/1", "labels of the pod template"},

	{"tenant brings a job of a JobSet with a job's uid", tenant, "create", job + "metadata: {namespace: team-a, name: x, ownerReferences: [{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, name: set, uid: u, controller: true}]}\nspec: {template: {metadata: {labels: {oxgang.dev/job-uid: u1}}, spec: {restartPolicy: Never, containers: [{name: train, image: train}]}}}", "oxgang-job-marks/2", "want oxgang.dev/placement beside"},

	{"tenant invents an owner of a started job", tenant, "patch", job + "metadata: {namespace: team-a, name: runs, ownerReferences: [{apiVersion: ray.io/v1, kind: RayJob, name: none, uid: u, controller: true}]}", "oxgang-job-marks/3", "keeps its controller"},
	{"tenant takes a started job with an invented owner out of its queue", tenant, "patch", job + "metadata: {namespace: team-a, name: owned, labels: {oxgang.dev/queue: null}}", "oxgang-job-marks/4", "keeps its queue"},

	{"tenant joins a queue of another namespace", tenant, "create", job + "metadata: {namespace: team-b, name: x, labels: {oxgang.dev/queue: elastic}}" + body, "oxgang-queue/0", "queue elastic is not for namespace team-b"},
	{"tenant joins it with a JobSet", tenant, "create", jobSet + "metadata: {namespace: team-b, name: x, labels: {oxgang.dev/queue: elastic}}" + set, "oxgang-queue/0", "queue elastic is not for namespace team-b"},
	{"tenant joins it with a TrainJob", tenant, "create", trainJob + "metadata: {namespace: team-b, name: x, labels: {oxgang.dev/queue: elastic}}\nspec: {runtimeRef: {name: r}}", "oxgang-queue/0", "queue elastic is not for namespace team-b"},
	{"tenant joins it with a RayJob", tenant, "create", rayJob + "metadata: {namespace: team-b, name: x, labels: {oxgang.dev/queue: elastic}}\nspec: {entrypoint: train}", "oxgang-queue/0", "queue elastic is not for namespace team-b"},
	{"running job joins a queue", tenant, "patch", job + "metadata: {namespace: team-a, name: free, labels: {oxgang.dev/queue: rigid}}", "oxgang-queue/1", "cannot change, to or from queue rigid of mode Admit"},
	{"running job leaves its queue", tenant, "patch", job + "metadata: {namespace: team-a, name: runs, labels: {oxgang.dev/queue: null, color: blue}}", "oxgang-queue/1", "cannot change, to or from queue elastic of mode Resize"},
	{"running job goes to a queue that only looks", tenant, "patch", job + "metadata: {namespace: team-a, name: runs, labels: {oxgang.dev/queue: watched}}", "oxgang-queue/1", "cannot change, to or from queue elastic"},
	{"tenant starts a job", tenant, "patch", job + "metadata: {namespace: team-a, name: waits}\nspec: {suspend: false}", "oxgang-queue/2", "jobs of queue elastic are started by the scheduler, in mode Resize"},
	{"tenant starts a JobSet", tenant, "patch", jobSet + "metadata: {namespace: team-a, name: set}\nspec: {suspend: false}", "oxgang-queue/2", "jobs of queue elastic are started by the scheduler"},
	{"tenant starts a JobSet by leaving suspend out", tenant, "patch", jobSet + "metadata: {namespace: team-a, name: set}\nspec: {suspend: null}", "oxgang-queue/2", "jobs of queue elastic are started by the scheduler"},
	{"tenant starts a job for Kueue", tenant, "patch", job + "metadata: {namespace: team-a, name: waits, labels: {kueue.x-k8s.io/queue-name: q}}\nspec: {suspend: false}", "oxgang-queue/2", "jobs of queue elastic are started by the scheduler"},
	{"tenant grows a job beyond its maximum", tenant, "patch", job + "metadata: {namespace: team-a, name: runs}\nspec: {parallelism: 5, completions: 5}", "oxgang-queue/3", "got 20 GPUs, want at most 16"},
	{"tenant grows a job that claims more than the queue gives", tenant, "patch", job + "metadata: {namespace: team-a, name: claims}\nspec: {parallelism: 4, completions: 4}", "oxgang-queue/3", "got 16 GPUs, want at most 12"},
	{"tenant grows a job beyond what the queue gives", tenant, "patch", job + "metadata: {namespace: team-a, name: plain}\nspec: {parallelism: 4, completions: 4}", "oxgang-queue/3", "got 16 GPUs, want at most 12"},
	{"tenant grows a job", tenant, "patch", job + "metadata: {namespace: team-a, name: kept}\nspec: {parallelism: 2, completions: 2}", "oxgang-queue/4", "only the scheduler grows a running job of queue rigid"},
	{"tenant submits a job that opts out", tenant, "create", job + "metadata: {namespace: team-a, name: x, labels: {oxgang.dev/queue: rigid}, annotations: {oxgang.dev/opt-out: \"true\"}}" + body, "oxgang-queue/5", "no job opts out of queue rigid"},
	{"tenant opts out with a running job", tenant, "patch", job + "metadata: {namespace: team-a, name: kept, annotations: {oxgang.dev/opt-out: \"true\"}}", "oxgang-queue/5", "no job opts out of queue rigid"},
	{"tenant raises the maximum of a running job", tenant, "patch", job + "metadata: {namespace: team-a, name: runs, annotations: {oxgang.dev/max-gpus: \"400\"}}", "oxgang-queue/6", "of a running job of queue elastic it cannot change"},
	{"tenant asks for a part of a GPU", tenant, "create", job + "metadata: {namespace: team-a, name: x, labels: {oxgang.dev/queue: elastic}}" + part, "oxgang-queue/7", "ask for no whole GPUs (nvidia.com/gpu), and queue elastic plans no parts"},
	{"tenant asks for GPUs by a claim", tenant, "create", job + "metadata: {namespace: team-a, name: x, labels: {oxgang.dev/queue: elastic}}\nspec: {template: {spec: {restartPolicy: Never, resourceClaims: [{name: gpu, resourceClaimTemplateName: one}], containers: [{name: c, image: c}]}}}", "oxgang-queue/7", "no resource claims"},
	{"tenant asks for parts of GPUs by a JobSet", tenant, "create", jobSet + "metadata: {namespace: team-a, name: x, labels: {oxgang.dev/queue: elastic}}\nspec: {replicatedJobs: [{name: w, template: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: c, resources: {limits: {nvidia.com/mig-1g.10gb: 1}}}]}}}}}]}", "oxgang-queue/7", "plans no parts"},
	{"tenant asks for parts of GPUs by a TrainJob", tenant, "create", trainJob + "metadata: {namespace: team-a, name: x, labels: {oxgang.dev/queue: elastic}}\nspec: {runtimeRef: {name: r}, trainer: {numNodes: 2, resourcesPerNode: {limits: {nvidia.com/mig-1g.10gb: 1}}}}", "oxgang-queue/7", "plans no parts"},
	{"tenant asks for parts of GPUs by a RayJob", tenant, "create", rayJob + ray("nvidia.com/mig-1g.10gb"), "oxgang-queue/7", "plans no parts"},
	{"tenant grows a running JobSet", tenant, "patch", jobSet + "metadata: {namespace: team-a, name: wide}\nspec: {replicatedJobs: [{name: workers, template: {spec: {parallelism: 4, completions: 4, template: {spec: {restartPolicy: Never, containers: [{name: train, image: train}]}}}}}]}", "oxgang-queue/8", "parallelism of a running JobSet of queue elastic"},

	{"running job goes to Kueue", tenant, "patch", job + "metadata: {namespace: team-a, name: runs, labels: {kueue.x-k8s.io/queue-name: q}}", "oxgang-queue/9", "label kueue.x-k8s.io/queue-name"},
	{"tenant grows a job with an invented owner", tenant, "patch", job + "metadata: {namespace: team-a, name: kept, ownerReferences: [{apiVersion: ray.io/v1, kind: RayJob, name: none, uid: u, controller: true}]}\nspec: {parallelism: 2, completions: 2}", "oxgang-queue/4", "only the scheduler grows a running job of queue rigid"},

	{"scheduler suspends a job of no queue", scheduler, "patch", job + "metadata: {namespace: team-a, name: free}\nspec: {suspend: true}", "oxgang-own/0", "writes only to what has it"},
	{"scheduler takes a queue away", scheduler, "patch", job + "metadata: {namespace: team-a, name: plain, labels: {oxgang.dev/queue: null}}", "oxgang-own/0", "and keeps it"},
	{"scheduler writes to a pod of no queue", scheduler, "patch", pod + "metadata: {namespace: team-a, name: shell, labels: {color: blue}}", "oxgang-own/0", "writes only to what has it"},
	{"scheduler evicts for good", scheduler, "disturb", pod + `metadata: {namespace: team-a, name: placed, labels: {oxgang.dev/queue: elastic}, annotations: {oxgang.dev/epoch: "5"}}`, "oxgang-own/1", "only asks about evictions"},
	{"scheduler changes an image", scheduler, "patch", pod + `metadata: {namespace: team-a, name: gated, annotations: {oxgang.dev/epoch: "5"}}` + "\nspec: {containers: [{name: train, image: other, resources: {limits: {nvidia.com/gpu: 4}, requests: {nvidia.com/gpu: 4}}}]}", "oxgang-own/2", "changes no images"},
	{"scheduler cordons a node", scheduler, "patch", node + "metadata: {name: n1}\nspec: {unschedulable: true}", "oxgang-own/3", "only the label and the taints of oxgang.dev"},
	{"scheduler labels a node", scheduler, "patch", node + "metadata: {name: n1, labels: {zone: a}}", "oxgang-own/3", "only the label"},
	{"scheduler taints a node", scheduler, "patch", node + "metadata: {name: n1}\nspec: {taints: [{key: other, effect: NoSchedule}]}", "oxgang-own/3", "only the label"},

	{"tenant deletes a job without its pods", tenant, "orphan", job + "metadata: {namespace: team-a, name: runs}", "oxgang-orphans/0", "a job of queue elastic is deleted with its pods"},
	{"tenant deletes a job and says nothing", tenant, "delete", job + "metadata: {namespace: team-a, name: runs}", "oxgang-orphans/0", "want Background or Foreground"},
	{"tenant deletes a job with the finalizer orphan", tenant, "delete", job + "metadata: {namespace: team-a, name: sticky}", "oxgang-orphans/0", "a job of queue rigid"},
	{"tenant deletes a running job with a finalizer", tenant, "sweep", job + "metadata: {namespace: team-a, name: clings}", "oxgang-orphans/1", "want Foreground, or remove example.com/x"},
	{"tenant deletes a JobSet without its jobs", tenant, "orphan", jobSet + "metadata: {namespace: team-a, name: set}", "oxgang-orphans/0", "a job of queue elastic"},

	{"administrator deletes a plan by accident", people["admin"], "delete", "apiVersion: oxgang.dev/v1alpha1\nkind: Plan\nmetadata: {name: elastic}", "oxgang-plan/0", "set the mode to Off first"},
	{"nobody is exempt from that", breakGlass, "delete", "apiVersion: oxgang.dev/v1alpha1\nkind: Plan\nmetadata: {name: rigid}", "oxgang-plan/0", "queue rigid of mode Admit goes on from it"},

	{"pod with GPUs and without a job", tenant, "create", pod + "metadata: {namespace: team-a, name: x}" + gpus, "oxgang-gpus/0", "namespace team-a has queue"},
	{"pod with GPUs and the label of a queue", tenant, "create", pod + "metadata: {namespace: team-a, name: x, labels: {oxgang.dev/queue: elastic}}" + gpus, "oxgang-gpus/0", "submit a job with the label oxgang.dev/queue"},
	{"pod with GPUs that chose its node", tenant, "create", pod + "metadata: {namespace: team-a, name: x}\nspec: {nodeName: n1, containers: [{name: c, image: c, resources: {limits: {nvidia.com/gpu: 8}}}]}", "oxgang-gpus/0", "namespace team-a has queue"},
	{"pod with GPUs in an init container", tenant, "create", pod + "metadata: {namespace: team-a, name: x}\nspec: {initContainers: [{name: i, image: i, resources: {limits: {nvidia.com/gpu: 8}}}], containers: [{name: c, image: c}]}", "oxgang-gpus/0", "namespace team-a has queue"},
	{"Job controller makes a pod of a job that was not started", jobs, "create", pod + "metadata: {namespace: team-a, name: x, labels: {oxgang.dev/queue: elastic}}" + gpus, "oxgang-gpus/0", "namespace team-a has queue"},
}

// good are requests that have to be accepted.
var good = []attempt{
	{name: "scheduler starts a job", who: scheduler, verb: "patch", object: job + "metadata: {namespace: team-a, name: waits, annotations: {oxgang.dev/epoch: \"5\"}}\nspec: {suspend: false, parallelism: 4, completions: 4, template: {metadata: {labels: {oxgang.dev/generation: \"1\", oxgang.dev/job-uid: u}}}}"},
	{name: "newer scheduler starts a JobSet", who: scheduler, verb: "patch", object: jobSet + "metadata: {namespace: team-a, name: set, annotations: {oxgang.dev/epoch: \"6\"}}\nspec: {suspend: false}"},
	{name: "scheduler opens a gate", who: scheduler, verb: "patch", object: pod + "metadata: {namespace: team-a, name: gated, annotations: {oxgang.dev/epoch: \"5\"}}\nspec: {schedulingGates: []}"},
	{name: "scheduler resizes a pod", who: scheduler, verb: "resize", object: pod + "metadata: {namespace: team-a, name: placed}\nspec: {containers: [{name: train, image: train, resources: {limits: {cpu: 2, memory: 1Gi, nvidia.com/gpu: 4}, requests: {cpu: 2, memory: 1Gi, nvidia.com/gpu: 4}}}]}"},
	{name: "scheduler evicts", who: scheduler, verb: "evict", object: pod + `metadata: {namespace: team-a, name: placed, labels: {oxgang.dev/queue: elastic}, annotations: {oxgang.dev/epoch: "5"}}`},
	{name: "scheduler asks about an eviction", who: scheduler, verb: "ask", object: pod + `metadata: {namespace: team-a, name: placed, labels: {oxgang.dev/queue: elastic}, annotations: {oxgang.dev/epoch: "5"}}`},
	{name: "scheduler grows a job", who: scheduler, verb: "patch", object: job + "metadata: {namespace: team-a, name: runs, annotations: {oxgang.dev/epoch: \"10\"}}\nspec: {parallelism: 50, completions: 50}"},
	{name: "scheduler of a queue without a plan", who: scheduler, verb: "patch", object: job + "metadata: {namespace: team-a, name: plain}\nspec: {suspend: true}"},
	{name: "scheduler lends a node", who: scheduler, verb: "patch", object: node + "metadata: {name: n1, labels: {oxgang.dev/loan: q}}\nspec: {taints: [{key: node.kubernetes.io/not-ready, effect: NoSchedule}, {key: oxgang.dev/loan, value: q, effect: NoSchedule}]}"},
	{name: "administrator opens a gate", who: breakGlass, verb: "patch", object: pod + "metadata: {namespace: team-a, name: gated}\nspec: {schedulingGates: []}"},

	{name: "tenant deletes a job", who: tenant, verb: "sweep", object: job + "metadata: {namespace: team-a, name: runs}"},
	{name: "tenant deletes a JobSet", who: tenant, verb: "delete", object: jobSet + "metadata: {namespace: team-a, name: set}"},
	{name: "tenant deletes a job of no queue", who: tenant, verb: "orphan", object: job + "metadata: {namespace: team-a, name: free}"},
	{name: "tenant deletes a job of a queue that only looks", who: tenant, verb: "orphan", object: job + "metadata: {namespace: team-a, name: seen}"},
	{name: "Job controller takes a pod's controller away", who: jobs, verb: "patch", object: pod + "metadata: {namespace: team-a, name: placed, ownerReferences: null, labels: {batch.kubernetes.io/controller-uid: null}}"},
	{name: "tenant labels a pod", who: tenant, verb: "patch", object: pod + "metadata: {namespace: team-a, name: gated, labels: {color: blue}}"},
	{name: "tenant resizes a pod of its own", who: tenant, verb: "resize", object: pod + "metadata: {namespace: team-a, name: shell}\nspec: {containers: [{name: sh, image: sh, resources: {limits: {cpu: 2}, requests: {cpu: 2}}}]}"},
	{name: "tenant labels a pod with a queue", who: tenant, verb: "patch", object: pod + "metadata: {namespace: team-a, name: shell, labels: {oxgang.dev/queue: x}}"},
	{name: "tenant submits a job", who: tenant, verb: "create", object: job + "metadata: {namespace: team-a, name: x, labels: {oxgang.dev/queue: elastic}}" + body},
	{name: "tenant submits a RayJob", who: tenant, verb: "create", object: rayJob + ray("nvidia.com/gpu")},
	{name: "tenant submits a TrainJob", who: tenant, verb: "create", object: trainJob + "metadata: {namespace: team-a, name: x, labels: {oxgang.dev/queue: elastic}}\nspec: {runtimeRef: {name: r}, trainer: {numNodes: 2, resourcesPerNode: {limits: {nvidia.com/gpu: 1}}}}"},
	{name: "tenant submits one without a queue", who: tenant, verb: "create", object: job + "metadata: {namespace: team-b, name: x}" + body},
	{name: "tenant labels a running JobSet", who: tenant, verb: "patch", object: jobSet + "metadata: {namespace: team-a, name: wide, labels: {color: blue}}"},
	{name: "tenant deletes a running job with a finalizer and its pods before", who: tenant, verb: "foreground", object: job + "metadata: {namespace: team-a, name: clings}"},
	{name: "tenant gives a job an owner that is no controller", who: tenant, verb: "patch", object: job + "metadata: {namespace: team-a, name: runs, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: none, uid: u}]}"},
	{name: "tenant suspends a job", who: tenant, verb: "patch", object: job + "metadata: {namespace: team-a, name: runs}\nspec: {suspend: true}"},
	{name: "tenant leaves while it waits", who: tenant, verb: "patch", object: job + "metadata: {namespace: team-a, name: waits, labels: {oxgang.dev/queue: rigid}}"},
	{name: "tenant opts out and starts", who: tenant, verb: "patch", object: job + "metadata: {namespace: team-a, name: alone}\nspec: {suspend: false}"},
	{name: "tenant has a running job looked at", who: tenant, verb: "patch", object: job + "metadata: {namespace: team-a, name: free, labels: {oxgang.dev/queue: watched}}"},
	{name: "running job that was looked at leaves", who: tenant, verb: "patch", object: job + "metadata: {namespace: team-a, name: seen, labels: {oxgang.dev/queue: null}}"},
	{name: "tenant grows a job to its maximum", who: tenant, verb: "patch", object: job + "metadata: {namespace: team-a, name: runs}\nspec: {parallelism: 4, completions: 4}"},
	{name: "tenant shrinks a job", who: tenant, verb: "patch", object: job + "metadata: {namespace: team-a, name: runs}\nspec: {parallelism: 1, completions: 1}"},
	{name: "Kueue starts a job", who: kueue, verb: "patch", object: job + "metadata: {namespace: team-a, name: waits, labels: {kueue.x-k8s.io/queue-name: q}}\nspec: {suspend: false}"},
	{name: "Kueue puts a template back", who: kueue, verb: "patch", object: job + "metadata: {namespace: team-a, name: waits}\nspec: {template: {metadata: {labels: {oxgang.dev/generation: null}}}}"},
	{name: "JobSet controller makes a job of a JobSet", who: jobsets, verb: "create", object: job + "metadata: {namespace: team-a, name: x, labels: {oxgang.dev/queue: elastic}, ownerReferences: [{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, name: set, uid: u, controller: true}]}\nspec: {template: {metadata: {labels: {oxgang.dev/generation: \"1\"}}, spec: {restartPolicy: Never, containers: [{name: train, image: train}]}}}"},
	{name: "JobSet controller makes one that is started", who: jobsets, verb: "create", object: job + "metadata: {namespace: team-a, name: x, labels: {oxgang.dev/queue: elastic}, ownerReferences: [{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, name: set, uid: u, controller: true}]}\nspec: {template: {metadata: {labels: {oxgang.dev/job-uid: u1}}, spec: {schedulingGates: [{name: oxgang.dev/placement}], restartPolicy: Never, containers: [{name: train, image: train}]}}}"},
	{name: "Job controller makes a pod of a job that was sent to its node", who: jobs, verb: "create", object: pod + "metadata: {namespace: team-a, name: x, labels: {oxgang.dev/queue: elastic, oxgang.dev/job-uid: u1}}" + gpus},
	{name: "pod without GPUs", who: tenant, verb: "create", object: pod + "metadata: {namespace: team-a, name: x}\nspec: {containers: [{name: c, image: c, resources: {limits: {nvidia.com/gpu: 0}}}]}"},
	{name: "pod with GPUs where no queue is", who: tenant, verb: "create", object: pod + "metadata: {namespace: team-b, name: x}" + gpus},
	{name: "gated pod with GPUs of a queue", who: tenant, verb: "create", object: pod + "metadata: {namespace: team-a, name: x, labels: {oxgang.dev/queue: elastic}}\nspec: {schedulingGates: [{name: oxgang.dev/placement}], containers: [{name: train, image: train, resources: {limits: {nvidia.com/gpu: 1}}}]}"},
}

// waiting are jobs that are created suspended.
var waiting = []attempt{
	{name: "Job", object: job + "metadata: {namespace: team-a, name: x, labels: {oxgang.dev/queue: elastic}}" + body},
	{name: "Job that says otherwise", object: job + "metadata: {namespace: team-a, name: x, labels: {oxgang.dev/queue: rigid}}\nspec: {suspend: false, template: {spec: {restartPolicy: Never, containers: [{name: train, image: train, resources: {limits: {nvidia.com/gpu: 1}}}]}}}"},
	{name: "JobSet", object: jobSet + "metadata: {namespace: team-a, name: x, labels: {oxgang.dev/queue: elastic}}" + set},
	{name: "TrainJob", object: trainJob + "metadata: {namespace: team-a, name: x, labels: {oxgang.dev/queue: elastic}}\nspec: {runtimeRef: {name: r}}"},
	{name: "RayJob", object: rayJob + "metadata: {namespace: team-a, name: x, labels: {oxgang.dev/queue: elastic}}\nspec: {entrypoint: train}"},
	{name: "Job for Kueue", object: job + "metadata: {namespace: team-a, name: x, labels: {oxgang.dev/queue: elastic, kueue.x-k8s.io/queue-name: q}}" + body},
	{name: "Job of a CronJob", object: job + "metadata: {namespace: team-a, name: x, labels: {oxgang.dev/queue: elastic}, ownerReferences: [{apiVersion: batch/v1, kind: CronJob, name: c, uid: u, controller: true}]}" + body},
}

var free = []attempt{
	{name: "no queue", object: job + "metadata: {namespace: team-a, name: x}" + body},
	{name: "queue that there is not", object: job + "metadata: {namespace: team-a, name: x, labels: {oxgang.dev/queue: nowhere}}" + body},
	{name: "queue that only looks", object: job + "metadata: {namespace: team-a, name: x, labels: {oxgang.dev/queue: watched}}" + body},
	{name: "opted out", object: job + "metadata: {namespace: team-a, name: x, labels: {oxgang.dev/queue: elastic}, annotations: {oxgang.dev/opt-out: \"true\"}}" + body},
	{name: "of a JobSet", object: job + "metadata: {namespace: team-a, name: x, labels: {oxgang.dev/queue: elastic}, ownerReferences: [{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, name: set, uid: u, controller: true}]}" + body},
}
