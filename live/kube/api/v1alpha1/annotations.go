package v1alpha1

// Names on jobs, pods and nodes.
const (
	// QueueLabel, on a job, names its queue. Oxgang ignores jobs without it.
	QueueLabel = "oxgang.dev/queue"
	// OptOut, on a job: with value true the scheduler never changes the job. Its GPUs count as used.
	OptOut = "oxgang.dev/opt-out"

	// MinGPUs and MaxGPUs, on a job, bound its total GPUs, in whole workers.
	MinGPUs = "oxgang.dev/min-gpus"
	MaxGPUs = "oxgang.dev/max-gpus"
	// GPUTypes, on a job, lists its allowed GPU types, separated by commas. Unset allows all types.
	GPUTypes = "oxgang.dev/gpu-types"
	// ResizeBy, on a job, is its Resizing.
	ResizeBy = "oxgang.dev/resize"
	// BatchSize, on a job, is its total batch size in samples.
	BatchSize = "oxgang.dev/batch-size"
	// MaxBatchSize, on a job, is the largest total batch size that the scheduler may choose. Unset: fixed.
	MaxBatchSize = "oxgang.dev/max-batch-size"
	// Class, on a job, names a group of jobs whose speed grows alike with GPUs.
	Class = "oxgang.dev/class"
	// Samples, on a job, is the number of samples it trains on until it is complete.
	Samples = "oxgang.dev/samples"
	// RunSeconds, on a job, is its run time on the GPUs that it requests; on other numbers, its speed is assumed to be
	// proportional. A job cannot set both this and Samples.
	RunSeconds = "oxgang.dev/run-seconds"
	// NonPreemptible, on a job: with value true the job keeps its GPUs once it has started.
	NonPreemptible = "oxgang.dev/non-preemptible"
	// Checkpoints, on a job: with value true the job saves its state when it is stopped, and resumes from there.
	Checkpoints = "oxgang.dev/checkpoints"
	// RestartSeconds, on a job, is the time from its stop until it trains again.
	RestartSeconds = "oxgang.dev/restart-seconds"

	// Generation, a label on pods, states to which start of their job they belong, counted from 1.
	Generation = "oxgang.dev/generation"
	// JobUID, a label on pods, is the uid of their job.
	JobUID = "oxgang.dev/job-uid"
	// Workers, a label on pods, is how many workers this start of the job created.
	Workers = "oxgang.dev/workers"
	// Epoch, an annotation on objects that the scheduler writes, is the epoch of the plan on which the write is based.
	Epoch = "oxgang.dev/epoch"
	// Asked, an annotation on a job that the scheduler has sized, stores the user's original request and the current
	// size.
	Asked = "oxgang.dev/asked"
	// Started, an annotation on a job, is set while the scheduler lets the job run. If the job is suspended with it,
	// somebody else has suspended it, and it waits until the annotation is removed.
	Started = "oxgang.dev/started"
	// PlacementGate, a scheduling gate on pods, is removed when the scheduler assigns them a node.
	PlacementGate = "oxgang.dev/placement"
	// AdmissionGate, a value in a job's annotation kueue.x-k8s.io/admission-gated-by, keeps Kueue from admitting the
	// job before the scheduler has set its size.
	AdmissionGate = "oxgang.dev/admission"
	// ScheduledCondition, a condition on a job, is true if the job has GPUs. Otherwise its message states why not.
	ScheduledCondition = "oxgang.dev/Scheduled"

	// LoanTaint and LoanLabel, on a node, name the queue that the node is lent to. The taint keeps the owner's pods
	// away.
	LoanTaint = "oxgang.dev/loan"
	LoanLabel = "oxgang.dev/loan"

	// LeavingTaint, on a rented node, names the queue that is returning it. It keeps new pods away.
	LeavingTaint = "oxgang.dev/leaving"
)

// Resizing is how a job changes its number of workers.
//
// +kubebuilder:validation:Enum=Never;Restart;InPlace
type Resizing string

// Values of Resizing.
const (
	Never   Resizing = "Never"   // the job gets the GPUs it requests, or none
	Restart Resizing = "Restart" // the job is stopped and started with the new number
	InPlace Resizing = "InPlace" // workers of the same GPU type join or leave a running Indexed Job
)
