package node

import (
	"context"
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/oxgang/oxgang/live/kube/rig"
)

// await waits until ready returns nil, for three minutes at most: the machine may be busy.
func await(t *testing.T, what string, ready func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	if err := rig.Until(ctx, what, func() error { return ready(ctx) }); err != nil {
		t.Fatal(err)
	}
}

// podSpec returns one container of Busybox that runs a script on some GPUs.
func podSpec(script string, gpus int) corev1.PodSpec {
	return corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever,
		Containers: []corev1.Container{{
			Name: "main", Image: Busybox, Command: []string{"/bin/sh", "-c", script},
			Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{
				rig.GPU: *resource.NewQuantity(int64(gpus), resource.DecimalSI),
			}},
		}},
	}
}

// job returns an Indexed Job of n pods that find each other as name-0.name and so on.
func job(name string, n int32, spec corev1.PodSpec) *batchv1.Job {
	mode := batchv1.IndexedCompletion
	spec.Subdomain = name
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: batchv1.JobSpec{
			Parallelism: &n, Completions: &n, CompletionMode: &mode,
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"job": name}}, Spec: spec},
		},
	}
}

func create(t *testing.T, client *kubernetes.Clientset, j *batchv1.Job) {
	t.Helper()
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: j.Name},
		Spec: corev1.ServiceSpec{
			ClusterIP: corev1.ClusterIPNone, PublishNotReadyAddresses: true,
			Selector: map[string]string{"job": j.Name},
		},
	}
	if _, err := client.CoreV1().Services("default").Create(t.Context(), service, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.BatchV1().Jobs("default").Create(t.Context(), j, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func pods(ctx context.Context, client *kubernetes.Clientset, name string) ([]corev1.Pod, error) {
	all, err := client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{LabelSelector: "job=" + name})
	if err != nil {
		return nil, err
	}
	return all.Items, nil
}

// running waits until a job has n pods that are ready, and returns them.
func running(t *testing.T, client *kubernetes.Clientset, name string, n int) []corev1.Pod {
	t.Helper()
	var ready []corev1.Pod
	await(t, fmt.Sprintf("%d pods of %s", n, name), func(ctx context.Context) error {
		all, err := pods(ctx, client, name)
		if err != nil {
			return err
		}
		ready = nil
		for _, p := range all {
			if p.DeletionTimestamp == nil && isReady(&p) {
				ready = append(ready, p)
			}
		}
		if len(ready) != n {
			return fmt.Errorf("%d of %d pods are ready, want %d", len(ready), len(all), n)
		}
		return nil
	})
	return ready
}

// isReady reports whether a pod is.
func isReady(p *corev1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// completed waits until a job is.
func completed(t *testing.T, client *kubernetes.Clientset, name string) {
	t.Helper()
	await(t, name+" to complete", func(ctx context.Context) error {
		j, err := client.BatchV1().Jobs("default").Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, c := range j.Status.Conditions {
			switch {
			case c.Type == batchv1.JobComplete && c.Status == corev1.ConditionTrue:
				return nil
			case c.Type == batchv1.JobFailed && c.Status == corev1.ConditionTrue:
				return rig.Fatal{Err: fmt.Errorf("it failed: %s", c.Message)}
			}
		}
		return fmt.Errorf("status %+v", j.Status)
	})
}

// logs returns what a pod has said so far.
func logs(t *testing.T, client *kubernetes.Clientset, pod string) string {
	t.Helper()
	data, err := client.CoreV1().Pods("default").GetLogs(pod, &corev1.PodLogOptions{}).DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// remove deletes a job with its pods and waits until they are gone.
func remove(t *testing.T, client *kubernetes.Clientset, name string) {
	t.Helper()
	now, policy := int64(1), metav1.DeletePropagationForeground
	all, err := pods(t.Context(), client, name)
	if err != nil {
		t.Fatal(err)
	}
	if err := client.BatchV1().Jobs("default").Delete(t.Context(), name, metav1.DeleteOptions{PropagationPolicy: &policy}); err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		_ = client.CoreV1().Pods("default").Delete(t.Context(), p.Name, metav1.DeleteOptions{GracePeriodSeconds: &now}) // the collector may be faster
	}
	await(t, "the pods of "+name+" to be gone", func(ctx context.Context) error {
		left, err := pods(ctx, client, name)
		if err == nil && len(left) > 0 {
			err = fmt.Errorf("%d pods, want none", len(left))
		}
		return err
	})
}
