package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// A Mode is how much the scheduler may do to the jobs of a queue. Each includes what the one
// before does; going back is always possible.
//
// +kubebuilder:validation:Enum=Off;Observe;Recommend;Admit;Resize
type Mode string

// The modes.
const (
	Off       Mode = "Off"       // nothing is looked at
	Observe   Mode = "Observe"   // plans are made and shown in metrics; nothing is written
	Recommend Mode = "Recommend" // plans, conditions and events are written; no job is changed
	Admit     Mode = "Admit"     // jobs that have not started are sized, placed and released; none that runs is touched
	Resize    Mode = "Resize"    // running jobs are resized and preempted, too
)

// A Queue is a pool of nodes, the namespaces that may use it, and how it is shared. The Plan
// of the same name says what was decided.
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

// A QueueSpec is what an administrator wants of a queue.
type QueueSpec struct {
	// mode is how much the scheduler may do.
	//
	// +kubebuilder:default=Observe
	// +optional
	Mode Mode `json:"mode,omitempty"`

	// namespaces are those whose jobs may name this queue.
	//
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=256
	// +optional
	Namespaces []NamespaceShare `json:"namespaces,omitempty"`

	// nodeSelector is the labels of the nodes that the queue may use; empty: every node with
	// GPUs. A queue that selects a node of an older active queue is not served.
	//
	// +kubebuilder:validation:MaxProperties=16
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.size() <= 317 && !format.qualifiedName().validate(k).hasValue())",message="a key is that of a label: at most 317 characters, as example.com/pool"
	// +kubebuilder:validation:XValidation:rule="self.all(k, self[k].size() <= 63)",message="a value has at most 63 characters"
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// tolerations are those of all jobs of the queue: nodes whose taints they match are used, and
	// pods of jobs that are started get them, beside their own. Other taints that keep pods off
	// close a node, but that of the GPU resource.
	//
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +optional
	Tolerations []Toleration `json:"tolerations,omitempty"`

	// policy decides.
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

	// loans says whose nodes the queue may borrow while their owner does not need them;
	// nothing: nobody's.
	//
	// +optional
	Loans *Lender `json:"loans,omitempty"`

	// budget bounds what rented nodes of the queue cost; nothing: it is not bounded. It is for
	// policies that have a budget, and needs nodeGroups.
	//
	// +optional
	Budget *Budget `json:"budget,omitempty"`

	// nodeGroups are the nodes that can be rented for the queue, beside those that it has. They
	// are for policies that rent nodes.
	//
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	// +optional
	NodeGroups []NodeGroup `json:"nodeGroups,omitempty"`

	// defaults are for jobs that do not say otherwise in their annotations.
	//
	// +optional
	Defaults JobDefaults `json:"defaults,omitempty"`

	// limits bound what jobs may say of themselves in their annotations.
	//
	// +optional
	Limits JobLimits `json:"limits,omitempty"`
}

// A NamespaceShare is a namespace that may use a queue, and with which weight.
type NamespaceShare struct {
	// name is that of the namespace.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	// weight is the share of its jobs, for policies that know shares.
	//
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	// +optional
	Weight int32 `json:"weight,omitempty"`

	// maxJobs is how many of its jobs that have not ended are planned at a time; others wait until
	// some have ended. 0: its equal share of 10,000, with the other namespaces of the queue.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000
	// +optional
	MaxJobs int32 `json:"maxJobs,omitempty"`

	// maxGPUs is the most that a job of it gets, and may ask for, beside the limits of the queue; 0: only these
	// hold.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100000
	// +optional
	MaxGPUs int32 `json:"maxGPUs,omitempty"`
}

// A PolicyRef names a policy and its settings.
type PolicyRef struct {
	// name is that of a policy: docs/policies.md lists them.
	//
	// +kubebuilder:default=oxgang
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[a-z][a-z0-9-]*$`
	// +optional
	Name string `json:"name,omitempty"`

	// settings are those of the policy, as text: `oxgang policies NAME` lists them.
	//
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.size() <= 64 && self[k].size() <= 64)",message="names and values of settings have at most 64 characters"
	// +optional
	Settings map[string]string `json:"settings,omitempty"`
}

// A Lender is the nodes of somebody else, who serves inference on them, say. Those that idle
// are lent whole, with a label and a taint, to policies that borrow: lyra.
type Lender struct {
	// nodeSelector is the labels of the lender's nodes. They are none of the queue's own, also
	// where its own nodeSelector selects them.
	//
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=16
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.size() <= 317 && !format.qualifiedName().validate(k).hasValue())",message="a key is that of a label: at most 317 characters, as example.com/pool"
	// +kubebuilder:validation:XValidation:rule="self.all(k, self[k].size() <= 63)",message="a value has at most 63 characters"
	NodeSelector map[string]string `json:"nodeSelector"`

	// headroomPercent is the share of the nodes of a kind that is never lent, in percent,
	// rounded up to whole nodes.
	//
	// +kubebuilder:default=2
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	// +optional
	HeadroomPercent *int32 `json:"headroomPercent,omitempty"`

	// graceSeconds is the time, in seconds, from when pods of the owner are seen to need nodes
	// on loan until those that are not back are taken by force.
	//
	// +kubebuilder:default=300
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	// +optional
	GraceSeconds int32 `json:"graceSeconds,omitempty"`
}

// A Budget bounds spending.
type Budget struct {
	// milliPerHour is thousandths of the currency of the prices of nodeGroups, per hour, on
	// average.
	//
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000000
	MilliPerHour int64 `json:"milliPerHour"`
}

// JobDefaults hold for jobs that do not say otherwise.
type JobDefaults struct {
	// resize says how jobs take other numbers of workers: see Resizing.
	//
	// +kubebuilder:default=Never
	// +optional
	Resize Resizing `json:"resize,omitempty"`

	// maxGPUs is the most that a job that may be resized gets; 0: what it asks for.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100000
	// +optional
	MaxGPUs int32 `json:"maxGPUs,omitempty"`
}

// JobLimits bound what users may say of their jobs.
type JobLimits struct {
	// maxGPUs is the most that a job of the queue gets, and may ask for, whatever it says itself; 0: it is not
	// bounded.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100000
	// +optional
	MaxGPUs int32 `json:"maxGPUs,omitempty"`

	// denyOptOut: no job may opt out of the queue, in the modes Admit and Resize.
	//
	// +optional
	DenyOptOut bool `json:"denyOptOut,omitempty"`

	// denyNonPreemptible: jobs are preempted also if they say that they are not to be.
	//
	// +optional
	DenyNonPreemptible bool `json:"denyNonPreemptible,omitempty"`

	// ignoreDisruptionBudgets: jobs are stopped and resized also if a PodDisruptionBudget would keep their
	// pods. Whoever may edit a namespace may make these.
	//
	// +optional
	IgnoreDisruptionBudgets bool `json:"ignoreDisruptionBudgets,omitempty"`

	// maxPriority is the highest priority that a job of the queue has, whatever the value of its PriorityClass;
	// nothing: it is not bounded.
	//
	// +kubebuilder:validation:Minimum=-2147483648
	// +kubebuilder:validation:Maximum=2147483647
	// +optional
	MaxPriority *int32 `json:"maxPriority,omitempty"`

	// allowGrowth: users may raise the parallelism of their running jobs, up to max-gpus as the job has it when
	// it starts, and at most maxGPUs. Without it only the scheduler does, in the modes Admit and Resize.
	//
	// +optional
	AllowGrowth bool `json:"allowGrowth,omitempty"`
}

// A QueueStatus is how it stands with a queue.
type QueueStatus struct {
	// observedGeneration is that of the spec that the rest speaks of.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// epoch is at least that of every plan of the queue that was ever written: it does not fall if
	// the Plan is deleted.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	Epoch int64 `json:"epoch,omitempty"`

	// conditions: Active (plans are made), JobsFit (no job is left out of them).
	//
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// running is the number of jobs that have GPUs by the plan.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	Running int32 `json:"running,omitempty"`

	// waiting is the number of jobs that have none.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	Waiting int32 `json:"waiting,omitempty"`

	// gpus is how many the nodes of the queue can give.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	GPUs int32 `json:"gpus,omitempty"`

	// gpusUsed is how many of them the plan gives to jobs.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	GPUsUsed int32 `json:"gpusUsed,omitempty"`
}

// Conditions of a Queue.
const (
	QueueActive  = "Active"  // plans are made
	QueueJobsFit = "JobsFit" // no job is left out of them
)

// QueueList is a list of queues.
//
// +kubebuilder:object:root=true
type QueueList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Queue `json:"items"`
}
