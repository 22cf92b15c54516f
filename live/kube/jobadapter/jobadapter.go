package jobadapter

import (
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// A Job is what the scheduler reads from a job's object, in the same form for all kinds.
type Job struct {
	UID, Kind, Namespace, Name string
	Queue                      string // of its label; empty: none
	// Part is the controller of the object if it also makes jobs, such as a JobSet; nil: none. The reference is not
	// verified.
	Part          *metav1.OwnerReference
	Created       time.Time
	Suspended     bool
	OptOut        bool
	Kueue         bool // a Kueue queue suspends and resumes it
	OnHold        bool // suspended by somebody else after the scheduler had started it
	Gated         bool // our AdmissionGate keeps Kueue from admitting it
	Sliced        bool // Kueue admits it in slices
	Ended         *Ending
	Workers       int               // current number of pods with GPUs
	PerWorker     cluster.Resources // current requests of each
	Generation    int64             // of its pod template; 0: not ours
	Node          string            // only node of its new pods; empty: they wait for Pin
	Roles         []Role            // for which kube-scheduler rejects some nodes
	Stopping      bool              // suspended, but its controller may still create pods
	Resizing      v1alpha1.Resizing // as requested, if possible
	FixedRequests bool              // a Grant cannot change CPUs and memory
	Grace         time.Duration
	PriorityClass string
	Spec          *job.Spec // as requested; nil if there is a Problem
	Problem       string    // for users; empty: it can be scheduled
	Plain         *job.Spec // Spec without annotations, if these are the Problem
}

// An Ending states how a job ended.
type Ending struct {
	Outcome scheduler.Outcome
	Detail  string
}

// A Grant states what a job gets: workers, their node, and their CPUs and memory.
type Grant struct {
	Epoch      int64
	Generation int64 // at least 1; not used by Resize
	Workers    int
	Node       string  // empty: several are possible
	CPUs       float64 // cores per worker; 0: as requested
	Memory     int64   // bytes per worker; 0: as requested
	Stays      bool    // Karpenter keeps the nodes of its pods
	// Tolerations are added to the pods. Resize does not use them.
	Tolerations []corev1.Toleration
	// Flavor has the node labels of the planned GPU type, for jobs in Kueue.
	Flavor map[string]string
}

// errFixed is returned if a job's number of workers cannot be changed.
var errFixed = errors.New("its number of workers is fixed")

// errKueue is returned for a job in Kueue: only Kueue can stop the job (by spec.active=false of its Workload), or
// resize it if it is not Sliced.
var errKueue = errors.New("it is in a Kueue queue")

// A Kind reads and changes the objects of one kind, such as JobSet. After an error, o must not be used.
type Kind interface {
	GVK() schema.GroupVersionKind
	// Read parses o with the defaults d of the queue and the namespace's weight in the queue. Invalid input is reported
	// in Job.Problem.
	Read(o *unstructured.Unstructured, d *v1alpha1.JobDefaults, weight int32) *Job
	// Start sets the size and the labels of a suspended job, and resumes it. If all pods run on one node and the kind
	// allows it, the pod templates name the node. Otherwise the pods have a scheduling gate, which Pin removes. For a
	// job in Kueue, Start removes Oxgang's admission gate, and Kueue resumes the job. The error may wrap ErrFixed.
	Start(o *unstructured.Unstructured, g *Grant) error
	// Stop suspends a job. The error may wrap ErrKueue.
	Stop(o *unstructured.Unstructured, epoch int64) error
	// Resize changes the size of a running job. The error may wrap ErrFixed.
	Resize(o *unstructured.Unstructured, g *Grant) error
	// Fit returns the running pods whose requests differ from g and can change without a restart.
	Fit(o *unstructured.Unstructured, all []*corev1.Pod, g *Grant) ([]Fitting, error)
}

// Options describe the cluster.
type Options struct {
	GPUResource string
	TypeLabels  []string
	Names       map[string]string // label values to GPU types
	// ElasticJobSets is true if JobSet's feature gate ElasticJobSet is on.
	ElasticJobSets bool
}

// Kinds adapts each supported kind of job, with nvidia.com/gpu as the GPU resource.
var Kinds = New(&Options{GPUResource: "nvidia.com/gpu", TypeLabels: []string{"nvidia.com/gpu.product"}})

// New returns an adapter for each supported kind of job. The caller must not change o afterwards.
func New(o *Options) []Kind {
	return []Kind{
		&adapter{gvk("batch", "v1", "Job"), o, lookJob},
		&adapter{gvk("jobset.x-k8s.io", "v1alpha2", "JobSet"), o, func(u *unstructured.Unstructured, gpu corev1.ResourceName) (*shape, error) {
			return lookJobSet(u, gpu, o.ElasticJobSets)
		}},
		&adapter{gvk("trainer.kubeflow.org", "v1alpha1", "TrainJob"), o, lookTrainJob},
		&adapter{gvk("ray.io", "v1", "RayJob"), o, lookRayJob},
	}
}

func gvk(group, version, kind string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: group, Version: version, Kind: kind}
}

func (o *Options) gpu() corev1.ResourceName { return corev1.ResourceName(o.GPUResource) }
