package jobadapter

import (
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// A Job is what Read finds in the object of a job.
type Job struct {
	UID, Kind, Namespace, Name string
	Queue                      string // the queue of ours that it names; empty: none, or it is part of another job
	Created                    time.Time
	Suspended                  bool
	OptOut                     bool              // the scheduler must leave it alone
	Kueue                      bool              // it names a queue of Kueue, which suspends and resumes it
	Gated                      bool              // our AdmissionGate keeps Kueue from admitting it
	Sliced                     bool              // Kueue admits it in slices, so that it can be resized while it runs
	Ended                      *Ending           // nil: it has not ended
	Workers                    int               // number of pods with GPUs that the object has now
	PerWorker                  cluster.Resources // that each of them requests now
	Generation                 int64             // in the labels of its pod template; 0: the template has no label of ours
	Node                       string            // the one node on which its new pods run; empty: they are gated and wait for Pin
	Stopping                   bool              // it is suspended, but its controller may still create pods
	Resizing                   v1alpha1.Resizing // that its user or its queue wants and its kind and shape allow
	FixedRequests              bool              // a Grant cannot change the CPUs and memory of its workers
	Grace                      time.Duration     // time that its pods get to stop
	PriorityClass              string            // that its pods name; empty: they name none
	Spec                       *job.Spec         // as the user asks; nil if there is a Problem
	Problem                    string            // why it cannot be scheduled, for people; empty: it can
	Plain                      *job.Spec         // as the user asks without the annotations that are wrong, if these are the Problem
}

// An Ending is how a job ended.
type Ending struct {
	Outcome scheduler.Outcome
	Detail  string // for people
}

// A Grant is what a job gets.
type Grant struct {
	Epoch      int64 // of the plan
	Generation int64 // of the start, at least 1; Resize does not use it
	Workers    int
	Node       string  // on which all workers run, until they are stopped; empty: they may be on several
	CPUs       float64 // cores per worker; 0: as the user asked
	Memory     int64   // bytes per worker; 0: as the user asked
	Stays      bool    // its pods get an annotation that asks Karpenter to keep their nodes
	// Tolerations are added to those of the pods. Resize does not use them.
	Tolerations []corev1.Toleration
	// Flavor has the labels of nodes of the planned GPU type, by which Kueue tells its flavors apart. Only jobs that Kueue
	// queues get them.
	Flavor map[string]string
}

// ErrFixed says that a job of this kind and shape cannot take another number of workers.
var ErrFixed = errors.New("its number of workers is fixed")

// ErrKueue says that only Kueue can stop a job that it queues, or resize one that it does not admit in slices, because it
// undoes the changes of others. To stop such a job, set spec.active=false on its Workload.
var ErrKueue = errors.New("it is in a queue of Kueue's")

// A Kind reads and changes objects of one kind. Start, Stop and Resize change o; if they return an
// error, o may be changed in part and must not be used. No function keeps o.
type Kind interface {
	GVK() schema.GroupVersionKind
	// Read returns what o says. d are the defaults of its queue; weight is the share of its
	// namespace, where a value below 1 counts as 1. It never fails: see Job.Problem.
	Read(o *unstructured.Unstructured, d *v1alpha1.JobDefaults, weight int32) *Job
	// Start sets the size of a suspended job, labels its pod templates, and resumes it. If all
	// pods run on one node, and the kind allows it, the templates name the node; otherwise the
	// pods are gated and wait for Pin. A job that Kueue queues is not resumed: Start removes our
	// AdmissionGate, and Kueue resumes the job. The error wraps ErrFixed if the job cannot have
	// that number of workers.
	Start(o *unstructured.Unstructured, g *Grant) error
	// Stop suspends a job. The error wraps ErrKueue if Kueue queues it.
	Stop(o *unstructured.Unstructured, epoch int64) error
	// Resize changes the number of workers of a running job. The error wraps ErrFixed if the
	// kind or the shape of the job does not allow that.
	Resize(o *unstructured.Unstructured, g *Grant) error
	// Fit returns the running pods that do not request the CPUs and memory of g yet, with what
	// they should request. It leaves out what g does not set, and pods that would have to
	// restart for it. It changes neither the pods nor o.
	Fit(o *unstructured.Unstructured, all []*corev1.Pod, g *Grant) ([]Fitting, error)
}

// Options say under which names GPUs appear in the cluster.
type Options struct {
	GPUResource string            // name of the resource that pods request for GPUs
	TypeLabels  []string          // node labels that name the GPU type
	Names       map[string]string // from values of these labels to GPU types that are called otherwise here
	// ElasticJobSets says that JobSet's feature gate ElasticJobSet is on.
	ElasticJobSets bool
}

// Kinds are all kinds, with the names that NVIDIA's device plugin uses.
var Kinds = New(&Options{GPUResource: "nvidia.com/gpu", TypeLabels: []string{"nvidia.com/gpu.product"}})

// New returns all kinds. It keeps o.
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

// gpu returns the name of the resource that pods request for GPUs.
func (o *Options) gpu() corev1.ResourceName { return corev1.ResourceName(o.GPUResource) }
