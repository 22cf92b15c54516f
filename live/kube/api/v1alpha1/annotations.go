package v1alpha1

// Labels, annotations and other names on objects that are not ours.
const (
	// QueueLabel, on a job, names its queue. Jobs without it are none of ours.
	QueueLabel = "oxgang.dev/queue"
	// OptOut, on a job, with value true: the scheduler leaves it alone, whatever the mode of
	// its queue. Its GPUs count as taken.
	OptOut = "oxgang.dev/opt-out"

	// MinGPUs and MaxGPUs, on a job, bound its GPUs in total; whole workers.
	MinGPUs = "oxgang.dev/min-gpus"
	MaxGPUs = "oxgang.dev/max-gpus"
	// GPUTypes, on a job, is the types that it may run on, separated by commas; any, if unset.
	GPUTypes = "oxgang.dev/gpu-types"
	// ResizeBy, on a job, is its Resizing.
	ResizeBy = "oxgang.dev/resize"
	// BatchSize, on a job, is its total batch size in samples.
	BatchSize = "oxgang.dev/batch-size"
	// MaxBatchSize, on a job, is the largest total batch size that the scheduler may choose.
	// Unset, the batch size is fixed.
	MaxBatchSize = "oxgang.dev/max-batch-size"
	// Class, on a job, names jobs that scale alike.
	Class = "oxgang.dev/class"
	// Samples, on a job, is how many it trains on until it is complete.
	Samples = "oxgang.dev/samples"
	// RunSeconds, on a job, is how long it runs on the GPUs that it asks for, of a job of which
	// nothing else is known: on more or fewer it is taken to be as much faster or slower. A job
	// that says Samples has none.
	RunSeconds = "oxgang.dev/run-seconds"
	// NonPreemptible, on a job, with value true: once it has started it keeps its GPUs.
	NonPreemptible = "oxgang.dev/non-preemptible"
	// Checkpoints, on a job, with value true: it saves its state when asked to stop, and goes
	// on from there.
	Checkpoints = "oxgang.dev/checkpoints"
	// RestartSeconds, on a job, is how long it takes from being stopped until it trains again.
	RestartSeconds = "oxgang.dev/restart-seconds"

	// Generation, a label on pods, is the start of the job that they belong to.
	Generation = "oxgang.dev/generation"
	// JobUID, a label on pods, is the uid of the job that they belong to.
	JobUID = "oxgang.dev/job-uid"
	// Workers, a label on pods, is how many of them the start of the job made. A job that is
	// resized in place has others since.
	Workers = "oxgang.dev/workers"
	// Epoch, an annotation on what we write, is that of the plan that it follows. Admission
	// refuses a write with an epoch older than that of the queue's Plan.
	Epoch = "oxgang.dev/epoch"
	// Asked, an annotation on a job that we have sized, is what its user asked for before that,
	// and what we made of it.
	Asked = "oxgang.dev/asked"
	// PlacementGate, a scheduling gate on pods, is there until they are pinned to a node.
	PlacementGate = "oxgang.dev/placement"
	// AdmissionGate, in the value of the annotation kueue.x-k8s.io/admission-gated-by on a
	// job, holds it back from Kueue until it is sized.
	AdmissionGate = "oxgang.dev/admission"
	// ScheduledCondition, a condition on a job's object, says whether it has GPUs, and why not.
	ScheduledCondition = "oxgang.dev/Scheduled"

	// LoanTaint and LoanLabel, on a node, say that it is lent to a queue, the value; the taint
	// keeps the pods of its owner away.
	LoanTaint = "oxgang.dev/loan"
	LoanLabel = "oxgang.dev/loan"

	// LeavingTaint, on a rented node, says that a queue, the value, gives it back: no more pods
	// are to come.
	LeavingTaint = "oxgang.dev/leaving"
)

// Resizing is how a job takes another number of workers.
//
// +kubebuilder:validation:Enum=Never;Restart;InPlace
type Resizing string

// The ways.
const (
	Never   Resizing = "Never"   // it gets what it asks for, or nothing
	Restart Resizing = "Restart" // it is stopped, and started again with as many
	InPlace Resizing = "InPlace" // workers join and leave a running Indexed Job, of the same GPU type
)
