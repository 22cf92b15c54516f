package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// A Plan is what the scheduler decided last for the queue of the same name. It is written by
// compare-and-swap on its resourceVersion, with an epoch that only grows: a scheduler that has
// lost the leadership cannot write another. Everything that is done to pods follows from it.
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
	// epoch counts the leaders: each takes one more than there was before it plans.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=999999999999999
	Epoch int64 `json:"epoch"`

	// round counts the plans that were committed; it goes on from leader to leader.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=999999999999999
	Round int64 `json:"round"`

	// time is when it was planned, in the time of the scheduler's events.
	//
	// +optional
	Time metav1.MicroTime `json:"time,omitempty"`

	// leader is who wrote it.
	//
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Leader string `json:"leader,omitempty"`

	// policy decided.
	//
	// +kubebuilder:validation:MaxLength=32
	// +optional
	Policy string `json:"policy,omitempty"`

	// inputs is the SHA-256, in hexadecimal, of all that the policy was shown. Two plans of
	// one policy with equal inputs are equal.
	//
	// +kubebuilder:validation:MaxLength=64
	// +optional
	Inputs string `json:"inputs,omitempty"`

	// allocations has an entry for every job of the queue, those that wait among them, by
	// submission time; the first ones, if there are more than an object can have.
	//
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20000
	// +optional
	Allocations []JobAllocation `json:"allocations,omitempty"`

	// packed has the entries that follow, without what is written for people: JSON, compressed
	// with gzip. `kubectl oxgang jobs` shows them.
	//
	// +kubebuilder:validation:MaxLength=1400000
	// +optional
	Packed []byte `json:"packed,omitempty"`

	// prices are what GPUs of each type cost the jobs that compete for them, where the policy
	// has prices.
	//
	// +kubebuilder:validation:MaxItems=64
	// +optional
	Prices []TypePrice `json:"prices,omitempty"`

	// nodeGroups is how many nodes of each group of the queue are wanted; those of which nothing
	// was decided yet are left out.
	//
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	// +optional
	NodeGroups []PlannedGroup `json:"nodeGroups,omitempty"`

	// loans are the nodes that are on loan to the queue, by name. Any other with its label is
	// to go back to its owner.
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

	// group is the nodes that it is like, by GPU type and GPUs of a node, as t4-8.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Group string `json:"group"`
}

// A JobAllocation is what one job has from a plan.
type JobAllocation struct {
	// uid is that of the job's object.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	UID string `json:"uid"`

	// kind is that of the job's object: Job, JobSet, TrainJob or RayJob.
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

	// generation counts the starts of the job: pods of another generation are not to be.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=999999999999999
	Generation int64 `json:"generation"`

	// gpus in total; 0: the job waits.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	GPUs int32 `json:"gpus"`

	// gpuType of all of them.
	//
	// +kubebuilder:validation:MaxLength=63
	// +optional
	GPUType string `json:"gpuType,omitempty"`

	// milliCPUs of all workers together; 0: as their pods ask.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000000000
	// +optional
	MilliCPUs int64 `json:"milliCPUs,omitempty"`

	// memoryBytes of all workers together; 0: as their pods ask.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=9000000000000000
	// +optional
	MemoryBytes int64 `json:"memoryBytes,omitempty"`

	// nodes is where, by name.
	//
	// +kubebuilder:validation:MaxItems=10000
	// +optional
	Nodes []NodeShare `json:"nodes,omitempty"`

	// batch is the batch size to train with, where the plan says.
	//
	// +optional
	Batch *Batch `json:"batch,omitempty"`

	// reason is why: one of a closed list (docs/guide/reasons.md).
	//
	// +kubebuilder:validation:MaxLength=64
	// +optional
	Reason string `json:"reason,omitempty"`

	// message is the reason in a sentence, with its numbers.
	//
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Message string `json:"message,omitempty"`

	// unblock is the cheapest change that would give a job that waits GPUs, in a sentence.
	//
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Unblock string `json:"unblock,omitempty"`

	// eta is when it is expected to start and to end, where the scheduler looks ahead.
	//
	// +optional
	ETA *ETA `json:"eta,omitempty"`
}

// An ETA is when a job is expected to start and to end.
type ETA struct {
	// start is when it gets GPUs.
	//
	// +optional
	Start *TimeRange `json:"start,omitempty"`

	// end is when it is complete.
	//
	// +optional
	End *TimeRange `json:"end,omitempty"`
}

// A TimeRange is from when to when something is expected, with a probability of 80 %.
//
// +kubebuilder:validation:XValidation:rule="!has(self.earliest) || !has(self.latest) || self.earliest <= self.latest",message="the earliest time is not after the latest"
type TimeRange struct {
	// earliest time; nothing: it may have been already.
	//
	// +optional
	Earliest *metav1.Time `json:"earliest,omitempty"`

	// likely is the median: as likely before as after. Nothing: not known.
	//
	// +optional
	Likely *metav1.Time `json:"likely,omitempty"`

	// latest time; nothing: not in the time that was looked ahead.
	//
	// +optional
	Latest *metav1.Time `json:"latest,omitempty"`
}

// A NodeShare is what an allocation has of one node.
type NodeShare struct {
	// name of the node.
	//
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// gpus of the node.
	//
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1024
	GPUs int32 `json:"gpus"`
}

// A Batch is how a worker cuts its share of a batch: accumulation passes without and one
// pass with gradient exchange, local samples each.
type Batch struct {
	// local is samples per worker and pass.
	//
	// +kubebuilder:validation:Minimum=1
	Local int32 `json:"local"`

	// accumulation is passes before the one that synchronises.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	Accumulation int32 `json:"accumulation,omitempty"`
}

// A TypePrice is the price of a GPU of a type.
type TypePrice struct {
	// gpuType whose price it is.
	//
	// +kubebuilder:validation:MaxLength=63
	GPUType string `json:"gpuType"`

	// milli is thousandths of the policy's objective per GPU.
	Milli int64 `json:"milli"`
}

// A PlanStatus is what of a plan's history outlives the scheduler: it is taken up by the next
// leader. It may be a few rounds old.
type PlanStatus struct {
	// jobs has what is known of jobs that have not ended; of the first ones, if there are more
	// than an object can have.
	//
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20000
	// +optional
	Jobs []JobState `json:"jobs,omitempty"`

	// packed has the entries that follow: JSON, compressed with gzip.
	//
	// +kubebuilder:validation:MaxLength=1400000
	// +optional
	Packed []byte `json:"packed,omitempty"`
}

// A JobState is what is known of a job.
type JobState struct {
	// uid is that of the job's object.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	UID string `json:"uid"`

	// submitted is when the scheduler first saw it.
	//
	// +optional
	Submitted metav1.MicroTime `json:"submitted,omitempty"`

	// started is when it first got GPUs; nothing: it did not yet.
	//
	// +optional
	Started *metav1.MicroTime `json:"started,omitempty"`

	// since is when what it holds last changed; services go on from there.
	//
	// +optional
	Since metav1.MicroTime `json:"since,omitempty"`

	// serviceMillis is how long it had held GPUs before that, in milliseconds.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	ServiceMillis int64 `json:"serviceMillis,omitempty"`

	// gpuServiceMillis is how many GPUs it had held times how long, in GPU-milliseconds.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	GPUServiceMillis int64 `json:"gpuServiceMillis,omitempty"`

	// restarts is how often it was started again.
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

	// hello is what the job's program said of itself, as JSON (live/agentapi/agent.yaml); empty: it
	// does not speak.
	//
	// +kubebuilder:validation:MaxLength=4096
	// +optional
	Hello string `json:"hello,omitempty"`

	// epoch of training.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	Epoch int32 `json:"epoch,omitempty"`

	// reports are the last that the job's program made at each of its last sizes, as JSON for
	// schedulers: from them the next one learns its speed. Empty: none, or there are too many jobs.
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
