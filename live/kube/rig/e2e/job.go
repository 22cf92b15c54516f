package e2e

import (
	"context"
	"fmt"
	"maps"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig"
)

const within = 60 * time.Second

const patience = 2 * time.Minute

// Queue returns a queue for namespace default whose rounds take one second.
func Queue(name string, mode v1alpha1.Mode, policy string) *v1alpha1.Queue {
	return &v1alpha1.Queue{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1alpha1.QueueSpec{
			Mode: mode, Namespaces: []v1alpha1.NamespaceShare{{Name: "default"}}, Policy: v1alpha1.PolicyRef{Name: policy},
			Round: &metav1.Duration{Duration: time.Second},
		},
	}
}

// Job returns a suspended Indexed Job of the given number of workers. gpus is the number of GPUs of each worker.
func Job(name, queue string, workers, gpus int, annotations map[string]string) *batchv1.Job {
	mode, n, yes := batchv1.IndexedCompletion, int32(workers), true
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: "default", Labels: map[string]string{v1alpha1.QueueLabel: queue}, Annotations: maps.Clone(annotations),
		},
		Spec: batchv1.JobSpec{
			Parallelism: &n, Completions: &n, CompletionMode: &mode, Suspend: &yes,
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever,
				Containers: []corev1.Container{{
					Name: "worker", Image: "train",
					Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{rig.GPU: *resource.NewQuantity(int64(gpus), resource.DecimalSI)}},
				}},
			}},
		},
	}
}

// Until waits until ok returns nil, and returns how long that took. If it takes longer than within, the test fails with
// ok's last error; what names the expected state.
func Until(ctx context.Context, t testing.TB, within time.Duration, what string, ok func() error) time.Duration {
	t.Helper()
	began := time.Now()
	for {
		err := ok()
		if err == nil {
			return time.Since(began)
		}
		if time.Since(began) > within || ctx.Err() != nil {
			t.Fatalf("%s: not within %v: %v", what, within, err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func errNot(format string, args ...any) error { return fmt.Errorf(format, args...) }
