package e2e

import (
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig"
)

// A namespace holds all GPUs by jobs without checkpoints when another one of the same weight submits six jobs of one
// node each. Each then has its share less one gang, and keeps it: gangs of two nodes leave 16 of 24 GPUs, jobs of one
// node leave 24.
func TestShares(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	c := rig.Start(t, rig.Options{Nodes: []rig.Nodes{{Type: "a100", Count: 4}, {Type: "h100", Count: 2}}})
	Prepare(t.Context(), t, c)
	b := &bench{T: t, Cluster: c, k: Client(t, c.Config)}
	for _, name := range []string{"vision", "speech"} {
		b.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	q := Queue("research", v1alpha1.Resize, "oxgang")
	q.Spec.Namespaces = []v1alpha1.NamespaceShare{{Name: "vision", Weight: 1}, {Name: "speech", Weight: 1}}
	b.create(q)
	Serve(t, c, Setup{})
	for workers, least := range map[int]int{2: 2, 1: 3} {
		t.Run(fmt.Sprintf("gangs of %d", workers), func(t *testing.T) {
			b := &bench{T: t, Cluster: c, k: b.k}
			for n := range 6 / workers {
				b.submit("vision", fmt.Sprintf("v%d-%d", workers, n), workers)
			}
			Until(t.Context(), t, within, "the first namespace has all nodes", func() error { return b.has("vision", 6, 6) })
			for n := range 6 {
				b.submit("speech", fmt.Sprintf("s%d-%d", workers, n), 1)
			}
			Until(t.Context(), t, within, "the other has its share", func() error { return b.has("speech", 3, 6-least) })
			for range 15 {
				time.Sleep(2 * time.Second)
				if err := b.has("vision", least, 3); err != nil {
					t.Fatalf("the first namespace: %v; %s", err, b.state())
				}
			}
			b.empty("vision", "speech")
		})
	}
}

func (b *bench) submit(namespace, name string, workers int) {
	b.Helper()
	j := Job(name, "research", workers, 8, nil)
	j.Namespace = namespace
	b.create(j)
}

// has returns an error unless least to most pods of a namespace run.
func (b *bench) has(namespace string, least, most int) error {
	var pods corev1.PodList
	if err := b.k.List(b.Context(), &pods, client.InNamespace(namespace)); err != nil {
		return err
	}
	n := 0
	for i := range pods.Items {
		if p := &pods.Items[i]; p.Status.Phase == corev1.PodRunning && p.DeletionTimestamp == nil {
			n++
		}
	}
	if n < least || n > most {
		return errNot("%d pods run, want %d to %d", n, least, most)
	}
	return nil
}

// empty deletes the jobs of namespaces, and waits until their pods are gone.
func (b *bench) empty(namespaces ...string) {
	b.Helper()
	for _, name := range namespaces {
		if err := b.k.DeleteAllOf(b.Context(), &batchv1.Job{}, client.InNamespace(name), client.PropagationPolicy("Background")); err != nil {
			b.Fatal(err)
		}
		Until(b.Context(), b, within, "no pod is left", func() error {
			var pods corev1.PodList
			if err := b.k.List(b.Context(), &pods, client.InNamespace(name)); err != nil || len(pods.Items) > 0 {
				return errNot("%d pods, %v", len(pods.Items), err)
			}
			return nil
		})
	}
}
