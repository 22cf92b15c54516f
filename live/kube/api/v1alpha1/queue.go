package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// A Mode limits what the scheduler may do to the jobs of a queue. Each mode includes the previous ones.
//
// +kubebuilder:validation:Enum=Off;Observe;Recommend;Admit;Resize
type Mode string

// Values of Mode.
const (
	Off       Mode = "Off"       // the queue is ignored
	Observe   Mode = "Observe"   // plans appear in metrics only; nothing is written
	Recommend Mode = "Recommend" // plans, conditions and events are written; no job is changed
	Admit     Mode = "Admit"     // jobs that have not started are sized, placed and released; running jobs do not change
	Resize    Mode = "Resize"    // running jobs are also resized and preempted
)

// A Queue is a pool of nodes, the namespaces that may use it, and how they share it. Its decisions are in the Plan of
// the same name.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=oxq,categories=oxgang
// +kubebuilder:printcolumn:name="Mode",type=string,JSONPath=`.spec.mode`
// +kubebuilder:printcolumn:name="Policy",type=string,JSONPath=`.spec.policy.name`
// +kubebuilder:printcolumn:name="Running",type=integer,JSONPath=`.status.running`
// +kubebuilder:printcolumn:name="Waiting",type=integer,JSONPath=`.status.waiting`
// +kubebuilder:printcolumn:name="GPUs",type=integer,JSONPath=`.status.gpus`
// +kubebuilder:printcolumn:name="Used",type=integer,JSONPath=`.status.gpusUsed`
// +kubebuilder:printcolumn:name="Active",type=string,JSONPath=`.status.conditions[?(@.type=="Active")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 63",message="the name of a queue is a label value: at most 63 characters"
type Queue struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   QueueSpec   `json:"spec,omitempty"`
	Status QueueStatus `json:"status,omitempty"`
}

// A QueueSpec configures a queue.
type QueueSpec struct {
	// mode limits what the scheduler may do.
	//
	// +kubebuilder:default=Observe
	// +optional
	Mode Mode `json:"mode,omitempty"`

	// namespaces whose jobs may use this queue.
	//
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=256
	// +optional
	Namespaces []NamespaceShare `json:"namespaces,omitempty"`

	// nodeSelector is the labels of the queue's nodes. Empty selects every node with GPUs. A queue is not served
	// if it selects a node of an older active queue.
	//
	// +kubebuilder:validation:MaxProperties=16
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.size() <= 317 && !format.qualifiedName().validate(k).hasValue())",message="keys must be label keys of at most 317 characters, such as example.com/pool"
	// +kubebuilder:validation:XValidation:rule="self.all(k, self[k].size() <= 63)",message="a value has at most 63 characters"
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// tolerations are added to the pods of all jobs of the queue. Nodes with matching taints can be used. Any other
	// taint with effect NoSchedule or NoExecute excludes a node, except the taint of the GPU resource.
	//
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +optional
	Tolerations []Toleration `json:"tolerations,omitempty"`

	// policy makes the plans.
	//
	// +kubebuilder:default={name: "oxgang"}
	// +optional
	Policy PolicyRef `json:"policy,omitempty"`

	// round is the time between plans.
	//
	// +kubebuilder:default="60s"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s') && duration(self) <= duration('1h')",message="a round takes 1s to 1h"
	// +optional
	Round *metav1.Duration `json:"round,omitempty"`

	// loans selects nodes that the queue may borrow while their owner does not need them. Unset: no borrowing.
	//
	// +optional
	Loans *Lender `json:"loans,omitempty"`

	// budget limits the cost of the queue's rented nodes. Unset: no limit. It requires nodeGroups and a policy
	// with a budget.
	//
	// +optional
	Budget *Budget `json:"budget,omitempty"`

	// nodeGroups are nodes that can be rented, by policies that rent nodes.
	//
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	// +optional
	NodeGroups []NodeGroup `json:"nodeGroups,omitempty"`

	// defaults apply to jobs whose annotations do not set these values.
	//
	// +optional
	Defaults JobDefaults `json:"defaults,omitempty"`

	// limits apply to what jobs set in their annotations.
	//
	// +optional
	Limits JobLimits `json:"limits,omitempty"`
}

// A NamespaceShare is a namespace that may use a queue, and its weight.
type NamespaceShare struct {
	// name of the namespace.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	// weight is the share of the namespace, relative to the weights of other namespaces with jobs. The policy oxgang
	// guarantees the share of each GPU type; other policies use it as a weight of jobs, or ignore it.
	//
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	// +optional
	Weight int32 `json:"weight,omitempty"`

	// maxJobs is how many unfinished jobs of the namespace are planned at a time; others wait. 0: an equal share of
	// 10,000 among the queue's namespaces.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000
	// +optional
	MaxJobs int32 `json:"maxJobs,omitempty"`

	// maxGPUs is the most GPUs that a job of the namespace can request or get, within the queue's limits. 0: no
	// further limit.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100000
	// +optional
	MaxGPUs int32 `json:"maxGPUs,omitempty"`
}

// A PolicyRef names a policy and its settings.
type PolicyRef struct {
	// name of the policy. docs/policies.md lists all.
	//
	// +kubebuilder:default=oxgang
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[a-z][a-z0-9-]*$`
	// +optional
	Name string `json:"name,omitempty"`

	// settings of the policy, as text. `oxgang policies` lists them.
	//
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.size() <= 64 && self[k].size() <= 64)",message="names and values of settings have at most 64 characters"
	// +optional
	Settings map[string]string `json:"settings,omitempty"`
}

// A Lender is nodes of another owner, for example of an inference service. Idle nodes are lent whole to policies
// that borrow, such as lyra.
type Lender struct {
	// nodeSelector is the labels of the lender's nodes. Nodes that it selects never belong to the queue itself.
	//
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=16
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.size() <= 317 && !format.qualifiedName().validate(k).hasValue())",message="keys must be label keys of at most 317 characters, such as example.com/pool"
	// +kubebuilder:validation:XValidation:rule="self.all(k, self[k].size() <= 63)",message="a value has at most 63 characters"
	NodeSelector map[string]string `json:"nodeSelector"`

	// headroomPercent is the share of each kind of node that is never lent, in percent, rounded up to whole nodes.
	//
	// +kubebuilder:default=2
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	// +optional
	HeadroomPercent *int32 `json:"headroomPercent,omitempty"`

	// graceSeconds is how long the queue may take to return nodes after the owner's pods need them. The nodes are
	// then taken by force.
	//
	// +kubebuilder:default=300
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	// +optional
	GraceSeconds int32 `json:"graceSeconds,omitempty"`
}

// A Budget limits spending.
type Budget struct {
	// milliPerHour is the average spending per hour, in thousandths of the currency of the prices in nodeGroups.
	//
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000000
	MilliPerHour int64 `json:"milliPerHour"`
}

// JobDefaults apply to jobs that do not set these values.
type JobDefaults struct {
	// resize is the default Resizing of jobs.
	//
	// +kubebuilder:default=Never
	// +optional
	Resize Resizing `json:"resize,omitempty"`

	// maxGPUs is the most GPUs that a resizable job gets. 0: the number that it requests.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100000
	// +optional
	MaxGPUs int32 `json:"maxGPUs,omitempty"`
}

// JobLimits limit what users may set on their jobs.
type JobLimits struct {
	// maxGPUs is the most GPUs that a job of the queue can request or get. 0: no limit.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100000
	// +optional
	MaxGPUs int32 `json:"maxGPUs,omitempty"`

	// denyOptOut forbids jobs to opt out of the queue, in the modes Admit and Resize.
	//
	// +optional
	DenyOptOut bool `json:"denyOptOut,omitempty"`

	// denyNonPreemptible makes all jobs preemptible, whatever their annotations.
	//
	// +optional
	DenyNonPreemptible bool `json:"denyNonPreemptible,omitempty"`

	// ignoreDisruptionBudgets lets the scheduler stop and resize jobs that a PodDisruptionBudget protects.
	//
	// +optional
	IgnoreDisruptionBudgets bool `json:"ignoreDisruptionBudgets,omitempty"`

	// maxPriority is the highest priority of a job of the queue; higher PriorityClass values are reduced to it.
	// Unset: no limit.
	//
	// +kubebuilder:validation:Minimum=-2147483648
	// +kubebuilder:validation:Maximum=2147483647
	// +optional
	MaxPriority *int32 `json:"maxPriority,omitempty"`

	// allowGrowth lets users raise the parallelism of running jobs, up to the max-gpus that the job had at its start
	// and to maxGPUs. Without it only the scheduler can, in the modes Admit and Resize.
	//
	// +optional
	AllowGrowth bool `json:"allowGrowth,omitempty"`
}

// A QueueStatus is the state of a queue.
type QueueStatus struct {
	// observedGeneration is the generation of the spec that this status describes.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// epoch is at least the epoch of every plan written for the queue, even if the Plan is deleted.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	Epoch int64 `json:"epoch,omitempty"`

	// conditions: Active (plans are made), JobsFit (the plan includes all jobs).
	//
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// running is the number of jobs to which the plan assigns GPUs.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	Running int32 `json:"running,omitempty"`

	// waiting is the number of jobs without GPUs.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	Waiting int32 `json:"waiting,omitempty"`

	// gpus is the number of GPUs on the queue's nodes that jobs can use.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	GPUs int32 `json:"gpus,omitempty"`

	// gpusUsed is the number of GPUs that the plan assigns to jobs.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	GPUsUsed int32 `json:"gpusUsed,omitempty"`
}

// Conditions of a Queue.
const (
	QueueActive  = "Active"  // plans are made
	QueueJobsFit = "JobsFit" // the plan includes all jobs
)

// QueueList is a list of queues.
//
// +kubebuilder:object:root=true
type QueueList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Queue `json:"items"`
}
