package train

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/workload"
	"github.com/oxgang/oxgang/simulate/workload/generate"
)

// A Submission is a job of a trace in the form in which a user submits it, with its time.
type Submission struct {
	At  time.Duration // in trace time
	Job *batchv1.Job
}

// An As configures how jobs of a trace become Kubernetes jobs.
type As struct {
	Namespace, Queue string
	// Speed divides the jobs' stated restart time, as in the emulator.
	Speed    float64
	Resizing v1alpha1.Resizing // of adaptable jobs
}

// PhillyLike returns random arrivals like those that Sia samples from Philly, for example 160 in 8 hours. Source: Sia
// §3.4.1.
func PhillyLike(catalog workload.Catalog, jobs int, seed uint64) ([]workload.Arrival, error) {
	o := generate.DefaultOptions("philly-like")
	o.Jobs, o.Seed = jobs, seed
	all, err := generate.Arrivals(o)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if err := catalog.Complete(&all[i]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Jobs converts arrivals into suspended Indexed Jobs with Oxgang's labels and annotations, with one pod per worker.
func Jobs(arrivals []workload.Arrival, as As) ([]Submission, error) {
	if !(as.Speed > 0) || math.IsInf(as.Speed, 0) {
		return nil, fmt.Errorf("train: speed %v, want a finite number above 0", as.Speed)
	}
	all := make([]Submission, 0, len(arrivals))
	for i := range arrivals {
		a := &arrivals[i]
		if a.Application == "" || a.Spec.Target < 1 || a.Spec.GPUs < 1 {
			return nil, fmt.Errorf("job %s: application %q, %d GPUs, target %v samples: want an application, and both numbers at least 1",
				a.Spec.ID, a.Application, a.Spec.GPUs, a.Spec.Target)
		}
		all = append(all, Submission{At: a.At, Job: as.job(a, i)})
	}
	return all, nil
}

func (as *As) job(a *workload.Arrival, i int) *batchv1.Job {
	s := &a.Spec
	per := max(1, s.WorkerGPUs)
	if s.GPUs%per != 0 {
		per = 1
	}
	workers, mode := int32(s.GPUs/per), batchv1.IndexedCompletion
	name := fmt.Sprintf("%s-%03d", clean(a.Application), i)
	says := as.annotations(s)
	inside := map[string]string{Application: a.Application, v1alpha1.Samples: says[v1alpha1.Samples]}
	for _, key := range []string{v1alpha1.BatchSize, v1alpha1.MaxBatchSize} {
		if v, ok := says[key]; ok {
			inside[key] = v
		}
	}
	return &batchv1.Job{
		TypeMeta: v1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"},
		ObjectMeta: v1.ObjectMeta{
			Name: name, Namespace: as.Namespace, Annotations: says,
			Labels: map[string]string{v1alpha1.QueueLabel: as.Queue},
		},
		Spec: batchv1.JobSpec{
			Parallelism: &workers, Completions: &workers, CompletionMode: &mode, Suspend: new(true),
			PodFailurePolicy: ignoreDisruption(),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: v1.ObjectMeta{Annotations: inside},
				Spec:       worker(per),
			},
		},
	}
}

func ignoreDisruption() *batchv1.PodFailurePolicy {
	return &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
		Action: batchv1.PodFailurePolicyActionIgnore,
		OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{
			Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue,
		}},
	}}}
}

func worker(gpus int) corev1.PodSpec {
	return corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever,
		Containers: []corev1.Container{{
			Name: "train", Image: "rig.local/train:1",
			Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{
				rig.GPU:               *resource.NewQuantity(int64(gpus), resource.DecimalSI),
				corev1.ResourceCPU:    *resource.NewQuantity(int64(gpus), resource.DecimalSI),
				corev1.ResourceMemory: *resource.NewQuantity(int64(gpus)<<32, resource.BinarySI), // 4 GiB per GPU
			}},
		}},
	}
}

func (as *As) annotations(s *job.Spec) map[string]string {
	says := map[string]string{
		v1alpha1.Samples:        strconv.FormatFloat(math.Ceil(s.Target), 'f', -1, 64),
		v1alpha1.Checkpoints:    strconv.FormatBool(!s.NoCheckpoint),
		v1alpha1.RestartSeconds: strconv.Itoa(int(math.Ceil(s.RestartOverhead.Seconds() / as.Speed))),
	}
	if s.Adaptivity.Has(job.GPUCount) {
		says[v1alpha1.MinGPUs] = strconv.Itoa(max(1, s.MinGPUs, s.WorkerGPUs))
		says[v1alpha1.ResizeBy] = string(cmp.Or(as.Resizing, v1alpha1.Restart))
		if s.MaxGPUs > 0 {
			says[v1alpha1.MaxGPUs] = strconv.Itoa(s.MaxGPUs)
		}
	}
	if s.Adaptivity.Has(job.BatchSizes) && s.Batch.Max > s.Batch.Init {
		says[v1alpha1.BatchSize] = strconv.Itoa(s.Batch.Init)
		says[v1alpha1.MaxBatchSize] = strconv.Itoa(s.Batch.Max)
	} else if s.BatchSize > 0 {
		says[v1alpha1.BatchSize] = strconv.Itoa(s.BatchSize)
	}
	if s.Class != "" {
		says[v1alpha1.Class] = string(s.Class)
	}
	if s.NonPreemptive {
		says[v1alpha1.NonPreemptible] = "true"
	}
	if len(s.GPUTypes) > 0 {
		var all []string
		for _, t := range s.GPUTypes {
			all = append(all, string(t))
		}
		says[v1alpha1.GPUTypes] = strings.Join(all, ",")
	}
	return says
}

func clean(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(name))
}
