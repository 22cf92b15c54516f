package jobadapter

import (
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/oxgang/oxgang/api/v1alpha1"
	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/scheduler"
)

// A Job is what an object says.
type Job struct {
	UID, Kind, Namespace, Name string
	Queue                      string // that it names; empty: none of ours, also if it is part of another job
	Created                    time.Time
	Suspended                  bool
	OptOut                     bool              // to be left alone
	Kueue                      bool              // it names a queue of Kueue's, which suspends and resumes it
	Gated                      bool              // held back from Kueue by our AdmissionGate
	Ended                      *Ending           // nil: it has not
	Workers                    int               // pods with GPUs that it asks for now
	PerWorker                  cluster.Resources // that each asks for now
	Generation                 int64             // that its pods get now; 0: none of ours
	Node                       string            // that its pods are sent to as they come; empty: none, they wait for Pin
	Stopping                   bool              // it is suspended, and its controller may still make pods
	Resizing                   v1alpha1.Resizing // as its kind and shape allow
	FixedRequests              bool              // CPUs and memory of its workers stay as it asks, whatever a Grant says
	Grace                      time.Duration     // of its pods, to stop
	Spec                       *job.Spec         // as the user asks; nil if there is a Problem
	Problem                    string            // what keeps it from being planned, for people; empty: nothing
}

// An Ending is how a job ended.
type Ending struct {
	Outcome scheduler.Outcome
	Detail  string // for people
}

// A Grant is what a job gets.
type Grant struct {
	Epoch      int64 // of the plan
	Generation int64 // of the start; at least 1. Resize leaves that of the object
	Workers    int
	Node       string  // of all workers, from the start to the stop; empty: they may be on several
	CPUs       float64 // per worker, cores; 0: as it asks
	Memory     int64   // per worker, bytes; 0: as it asks
	Stays      bool    // whoever takes rented nodes away is asked to spare those of its pods
	// Tolerations that its pods are to have; those that they have stay. Resize leaves all.
	Tolerations []corev1.Toleration
}

// ErrFixed says that a job of this kind and shape cannot take another number of workers.
var ErrFixed = errors.New("its number of workers is fixed")

// ErrKueue says that Kueue has to stop, or resize, a job that it queues: it undoes what others
// do. A job is stopped by spec.active=false on its Workload.
var ErrKueue = errors.New("it is in a queue of Kueue's")

// A Kind is one kind of object that is a job. Start, Stop and Resize change o; if they return
// an error, o is of no use. None keeps o.
type Kind interface {
	GVK() schema.GroupVersionKind
	// Read returns what o says. d are the defaults of its queue; weight is the share of its
	// namespace, below 1 taken as 1. It never fails: see Job.Problem.
	Read(o *unstructured.Unstructured, d *v1alpha1.JobDefaults, weight int32) *Job
	// Start sizes a suspended job, marks the pods that it will have, sends them to their one
	// node, where that may be said in advance, or gates them for Pin, and lets them come. Of a
	// job that Kueue queues it takes our AdmissionGate away instead: Kueue lets them come. It
	// wraps ErrFixed if the job cannot have so many workers.
	Start(o *unstructured.Unstructured, g *Grant) error
	// Stop suspends a job. It wraps ErrKueue if Kueue queues it.
	Stop(o *unstructured.Unstructured, epoch int64) error
	// Resize changes the number of workers of a running job. It wraps ErrFixed where the
	// kind, or the shape of the job, does not allow that.
	Resize(o *unstructured.Unstructured, g *Grant) error
	// Fit returns what running pods of a job are to be so that each asks for the CPUs and memory
	// of g, as far as g says any: those that do not now, and can without a restart. It changes
	// neither them nor o.
	Fit(o *unstructured.Unstructured, all []*corev1.Pod, g *Grant) ([]Fitting, error)
}

// Options say how GPUs are called.
type Options struct {
	GPUResource string            // that they are requested as
	TypeLabels  []string          // node labels that name their type
	Names       map[string]string // of values of these labels, where they have others
}

// Kinds is all there are, where GPUs are called as NVIDIA's device plugin does.
var Kinds = New(&Options{GPUResource: "nvidia.com/gpu", TypeLabels: []string{"nvidia.com/gpu.product"}})

// New returns all kinds there are. It keeps o.
func New(o *Options) []Kind {
	return []Kind{
		&adapter{gvk("batch", "v1", "Job"), o, lookJob},
		&adapter{gvk("jobset.x-k8s.io", "v1alpha2", "JobSet"), o, lookJobSet},
		&adapter{gvk("trainer.kubeflow.org", "v1alpha1", "TrainJob"), o, lookTrainJob},
		&adapter{gvk("ray.io", "v1", "RayJob"), o, lookRayJob},
	}
}

func gvk(group, version, kind string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: group, Version: version, Kind: kind}
}

// gpu is the resource that GPUs are requested as.
func (o *Options) gpu() corev1.ResourceName { return corev1.ResourceName(o.GPUResource) }
