package jobadapter

import (
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/oxgang/oxgang/live/kube/inventory"
	"github.com/oxgang/oxgang/scheduler"
)

// Only an Indexed Job whose pods all run at once can be sized.
func lookJob(o *unstructured.Unstructured, gpu corev1.ResourceName) (*shape, error) {
	var j batchv1.Job
	if err := decode(o.Object, &j); err != nil {
		return nil, fmt.Errorf("is not a valid batch/v1 Job: %w", err)
	}
	spec := child(o.Object, "spec")
	s := &shape{
		suspended: j.Spec.Suspend != nil && *j.Spec.Suspend,
		ended:     endedJob(&j),
		workers:   atOnce(&j.Spec),
		pod:       j.Spec.Template,
		fixed:     rigid(&j.Spec),
		resources: true,
		affine:    true,
		templates: func() []template { return []template{child(spec, "template")} },
	}
	s.stopping = s.suspended && stopping(&j.Status)
	s.role("", s.workers, &j.Spec.Template, gpu)
	if inventory.Request(&j.Spec.Template.Spec, gpu).GPUs == 0 {
		return s, noGPUs(gpu, &j.Spec.Template.Spec)
	}
	s.keeps = keepsSize(&j.Spec)
	if s.fixed == "" && !s.keeps {
		s.inPlace = true
		s.size = func(n int) error { return sizeJob(spec, n) }
	}
	return s, nil
}

func sizeJob(spec map[string]any, n int) error {
	if err := checkWorkers(n); err != nil {
		return err
	}
	spec["parallelism"], spec["completions"] = int64(n), int64(n)
	return nil
}

func atOnce(s *batchv1.JobSpec) int {
	n := 1
	if s.Parallelism != nil {
		n = int(*s.Parallelism)
	}
	if s.Completions != nil {
		n = min(n, int(*s.Completions))
	}
	return n
}

func rigid(s *batchv1.JobSpec) string {
	switch {
	case s.CompletionMode == nil || *s.CompletionMode != batchv1.IndexedCompletion:
		return "its completionMode is not Indexed"
	case s.Parallelism == nil || s.Completions == nil || *s.Parallelism != *s.Completions:
		return "its parallelism and completions differ"
	}
	return ""
}

// The API server rejects fewer workers if a policy counts them.
func keepsSize(s *batchv1.JobSpec) bool { return s.SuccessPolicy != nil || s.MaxFailedIndexes != nil }

func endedJob(j *batchv1.Job) *Ending {
	for _, c := range j.Status.Conditions {
		if c.Status != corev1.ConditionTrue {
			continue
		}
		if c.Type == batchv1.JobComplete {
			return &Ending{Outcome: scheduler.Done, Detail: detail(c.Reason, c.Message)}
		}
		if c.Type == batchv1.JobFailed {
			return &Ending{Outcome: scheduler.Failed, Detail: detail(c.Reason, c.Message)}
		}
	}
	return nil
}

// Until a suspended Job's condition Suspended is set, its controller may create pods, and the template is immutable.
func stopping(s *batchv1.JobStatus) bool {
	said := slices.ContainsFunc(s.Conditions, func(c batchv1.JobCondition) bool {
		return c.Type == batchv1.JobSuspended && c.Status == corev1.ConditionTrue
	})
	return s.Active > 0 || s.StartTime != nil && !said
}

func detail(reason, message string) string {
	text := strings.Join(strings.Fields(strings.Trim(reason+": "+message, ": ")), " ")
	return strings.ToValidUTF8(text[:min(len(text), 1024)], "")
}
