package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// A Plan is the scheduler's latest decision for the queue of the same name. All changes to pods follow from it.
// Its epoch only grows, so a scheduler that has lost the leadership cannot write another.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=oxp,categories=oxgang
// +kubebuilder:printcolumn:name="Epoch",type=integer,JSONPath=`.spec.epoch`
// +kubebuilder:printcolumn:name="Round",type=integer,JSONPath=`.spec.round`
// +kubebuilder:printcolumn:name="Policy",type=string,JSONPath=`.spec.policy`
// +kubebuilder:printcolumn:name="Planned",type=date,JSONPath=`.spec.time`
type Plan struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the decision.
	Spec   PlanSpec   `json:"spec"`
	Status PlanStatus `json:"status,omitempty"`
}

// A PlanSpec is the decision.
//
// +kubebuilder:validation:XValidation:rule="self.epoch >= oldSelf.epoch",message="an older epoch cannot write over a newer one"
// +kubebuilder:validation:XValidation:rule="self.epoch > oldSelf.epoch || self.round >= oldSelf.round",message="an older round cannot write over a newer one"
type PlanSpec struct {
	// epoch grows by one with each new leader, before the leader plans.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=999999999999999
	Epoch int64 `json:"epoch"`

	// round counts the committed plans, across leaders.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=999999999999999
	Round int64 `json:"round"`

	// time of planning, by the scheduler's clock.
	//
	// +optional
	Time metav1.MicroTime `json:"time,omitempty"`

	// leader that wrote the plan.
	//
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Leader string `json:"leader,omitempty"`

	// policy that made the plan.
	//
	// +kubebuilder:validation:MaxLength=32
	// +optional
	Policy string `json:"policy,omitempty"`

	// inputs is the SHA-256, in hexadecimal, of all inputs of the policy.
	//
	// +kubebuilder:validation:MaxLength=64
	// +optional
	Inputs string `json:"inputs,omitempty"`

	// allocations has an entry for every job of the queue, by submission time. If an object cannot hold all, the
	// rest is in packed.
	//
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20000
	// +optional
	Allocations []JobAllocation `json:"allocations,omitempty"`

	// packed has the remaining entries without their texts: JSON, compressed with gzip. `kubectl oxgang jobs` shows
	// them.
	//
	// +kubebuilder:validation:MaxLength=1400000
	// +optional
	Packed []byte `json:"packed,omitempty"`

	// prices of GPUs by type, if the policy has prices.
	//
	// +kubebuilder:validation:MaxItems=64
	// +optional
	Prices []TypePrice `json:"prices,omitempty"`

	// nodeGroups is how many nodes of each group are wanted. Groups without a decision are left out.
	//
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	// +optional
	NodeGroups []PlannedGroup `json:"nodeGroups,omitempty"`

	// loans are the nodes on loan to the queue.
	//
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=10000
	// +optional
	Loans []NodeLoan `json:"loans,omitempty"`
}

// A NodeLoan is a node on loan.
type NodeLoan struct {
	// name of the node.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// group of similar nodes, by GPU type and GPUs per node, such as t4-8.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Group string `json:"group"`
}

// A JobAllocation is a plan's decision for one job.
type JobAllocation struct {
	// uid of the job's object.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	UID string `json:"uid"`

	// kind of the job's object: Job, JobSet, TrainJob or RayJob.
	//
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind"`

	// namespace of the job's object.
	//
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace"`

	// name of the job's object.
	//
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// generation counts the starts of the job. Pods of other generations must stop.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=999999999999999
	Generation int64 `json:"generation"`

	// gpus in total. 0: the job waits.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	GPUs int32 `json:"gpus"`

	// gpuType of all of them.
	//
	// +kubebuilder:validation:MaxLength=63
	// +optional
	GPUType string `json:"gpuType,omitempty"`

	// milliCPUs of all workers together. 0: as their pods request.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000000000
	// +optional
	MilliCPUs int64 `json:"milliCPUs,omitempty"`

	// memoryBytes of all workers together. 0: as their pods request.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=9000000000000000
	// +optional
	MemoryBytes int64 `json:"memoryBytes,omitempty"`

	// nodes that the job runs on, with its GPUs on each.
	//
	// +kubebuilder:validation:MaxItems=10000
	// +optional
	Nodes []NodeShare `json:"nodes,omitempty"`

	// batch size to train with, if the policy sets it.
	//
	// +optional
	Batch *Batch `json:"batch,omitempty"`

	// reason is one of the reasons in docs/guide/reasons.md.
	//
	// +kubebuilder:validation:MaxLength=64
	// +optional
	Reason string `json:"reason,omitempty"`

	// message explains the reason in a sentence.
	//
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Message string `json:"message,omitempty"`

	// unblock is the cheapest change that would give a waiting job GPUs, in a sentence.
	//
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Unblock string `json:"unblock,omitempty"`

	// eta is when the job should start and end, if the scheduler predicts it.
	//
	// +optional
	ETA *ETA `json:"eta,omitempty"`
}

// An ETA is when a job should start and end.
type ETA struct {
	// start is when the job gets GPUs.
	//
	// +optional
	Start *TimeRange `json:"start,omitempty"`

	// end is when the job completes.
	//
	// +optional
	End *TimeRange `json:"end,omitempty"`
}

// A TimeRange contains the predicted time with a probability of 80 %.
//
// +kubebuilder:validation:XValidation:rule="!has(self.earliest) || !has(self.latest) || self.earliest <= self.latest",message="the earliest time is not after the latest"
type TimeRange struct {
	// earliest time. Unset: it may have passed already.
	//
	// +optional
	Earliest *metav1.Time `json:"earliest,omitempty"`

	// likely is the median. Unset: not known.
	//
	// +optional
	Likely *metav1.Time `json:"likely,omitempty"`

	// latest time. Unset: beyond the predicted period.
	//
	// +optional
	Latest *metav1.Time `json:"latest,omitempty"`
}

// A NodeShare is a job's GPUs on one node.
type NodeShare struct {
	// name of the node.
	//
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// gpus of the node that the job has.
	//
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1024
	GPUs int32 `json:"gpus"`
}

// A Batch is how a worker splits its share of a batch into passes. accumulation passes come first; one more pass
// exchanges gradients.
type Batch struct {
	// local is samples per worker and pass.
	//
	// +kubebuilder:validation:Minimum=1
	Local int32 `json:"local"`

	// accumulation is the number of passes before the one that exchanges gradients.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	Accumulation int32 `json:"accumulation,omitempty"`
}

// A TypePrice is the price of a GPU of a type.
type TypePrice struct {
	// gpuType with this price.
	//
	// +kubebuilder:validation:MaxLength=63
	GPUType string `json:"gpuType"`

	// milli is thousandths of the policy's objective per GPU.
	Milli int64 `json:"milli"`
}

// A PlanStatus is the history of jobs that the next leader restores. It may be a few rounds old.
type PlanStatus struct {
	// jobs has the history of unfinished jobs. If an object cannot hold all, the rest is in packed.
	//
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20000
	// +optional
	Jobs []JobState `json:"jobs,omitempty"`

	// packed has the remaining entries: JSON, compressed with gzip.
	//
	// +kubebuilder:validation:MaxLength=1400000
	// +optional
	Packed []byte `json:"packed,omitempty"`
}

// A JobState is the history of a job.
type JobState struct {
	// uid of the job's object.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	UID string `json:"uid"`

	// submitted is when the scheduler first saw the job.
	//
	// +optional
	Submitted metav1.MicroTime `json:"submitted,omitempty"`

	// started is when the job first got GPUs. Unset: not yet.
	//
	// +optional
	Started *metav1.MicroTime `json:"started,omitempty"`

	// since is when the job's GPUs last changed. The service times end here.
	//
	// +optional
	Since metav1.MicroTime `json:"since,omitempty"`

	// serviceMillis is how long the job had held GPUs, in milliseconds.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	ServiceMillis int64 `json:"serviceMillis,omitempty"`

	// gpuServiceMillis is the GPU time that the job had used, in GPU-milliseconds.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	GPUServiceMillis int64 `json:"gpuServiceMillis,omitempty"`

	// restarts of the job.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	Restarts int32 `json:"restarts,omitempty"`

	// failures is how many starts in a row failed without progress.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	Failures int32 `json:"failures,omitempty"`

	// progressMilli is thousandths of samples at the efficiency of the initial batch.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	ProgressMilli int64 `json:"progressMilli,omitempty"`

	// hello is the first message of the job's program, as JSON (live/agentapi/agent.yaml). Empty: the program sends
	// no reports.
	//
	// +kubebuilder:validation:MaxLength=4096
	// +optional
	Hello string `json:"hello,omitempty"`

	// epoch of training.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	Epoch int32 `json:"epoch,omitempty"`

	// reports are the program's latest reports at each of its latest sizes, as JSON. Empty: no reports, or too
	// many jobs.
	//
	// +kubebuilder:validation:MaxLength=4096
	// +optional
	Reports string `json:"reports,omitempty"`
}

// PlanList is a list of plans.
//
// +kubebuilder:object:root=true
type PlanList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Plan `json:"items"`
}
