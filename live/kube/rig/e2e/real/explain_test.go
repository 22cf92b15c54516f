package real

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// explain says, if the test has failed, how Kueue sees its jobs and what pods say.
func (b *bench) explain() {
	if !b.Failed() {
		return
	}
	ctx := context.WithoutCancel(b.Context())
	var all unstructured.UnstructuredList
	all.SetGroupVersionKind(schema.GroupVersionKind{Group: "kueue.x-k8s.io", Version: "v1beta2", Kind: "Workload"})
	var pods corev1.PodList
	if err := b.k.List(ctx, &all); err != nil {
		b.Log(err)
	}
	if err := b.k.List(ctx, &pods); err != nil {
		b.Log(err)
	}
	for i := range all.Items {
		conditions, _, _ := unstructured.NestedSlice(all.Items[i].Object, "status", "conditions")
		b.Logf("workload %s: %v", all.Items[i].GetName(), conditions)
	}
	lines := int64(12)
	for i := range pods.Items {
		p := &pods.Items[i]
		text, err := b.Client().CoreV1().Pods(p.Namespace).GetLogs(p.Name, &corev1.PodLogOptions{TailLines: &lines}).DoRaw(ctx)
		b.Logf("pod %s on %s: %s %s %s, %v: %s", p.Name, p.Spec.NodeName, p.Status.Phase, p.Status.Reason, p.Status.Message, err, text)
	}
}
