package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig"
	"github.com/oxgang/oxgang/live/kube/rig/audit"
)

// What running pods ask for follows the plan, and at no revision a node is asked for more CPUs
// than it has: of two jobs that trade theirs, the one that is to have less goes first.
func TestFit_on_fake_nodes(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	c := rig.Start(t, rig.Options{Nodes: []rig.Nodes{{Type: "a100", Count: 1, CPUs: 64}}, History: true})
	Prepare(t.Context(), t, c)
	w := audit.Follow(c.Etcd(t), audit.New(audit.All(2*time.Minute, 2*time.Minute)...))
	b := &bench{T: t, Cluster: c, k: Client(t, c.Config)}
	q := Queue("train", v1alpha1.Resize, "fifo")
	b.create(q)
	h := Plan(t, b.k, q)
	for _, name := range []string{"a", "b"} {
		b.create(Job(name, "train", 2, 1, nil))
	}
	h.Give(Gift{"a", "a100-0", 2, 48}, Gift{"b", "a100-0", 2, 8})
	b.runs("a", 2)
	b.runs("b", 2)
	b.resizable()
	before := b.pods("a") + b.pods("b")
	b.ask("a 24000m, a 24000m, b 4000m, b 4000m")
	for _, trade := range []struct {
		a, b float64
		want string
	}{
		{8, 56, "a 4000m, a 4000m, b 28000m, b 28000m"},
		{55, 9, "a 27500m, a 27500m, b 4500m, b 4500m"},
	} {
		h.Give(Gift{"a", "a100-0", 2, trade.a}, Gift{"b", "a100-0", 2, trade.b})
		t.Logf("the pods ask for what is planned after %v", b.ask(trade.want).Round(10*time.Millisecond))
	}
	if after := b.pods("a") + b.pods("b"); after != before {
		t.Errorf("pods %s, want %s as before", after, before)
	}
	found, err := w.Stop(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		t.Error(f)
	}
}

// resizable has the fake kubelet say what containers have, as real ones do: without that the API
// server takes it for one that cannot resize.
func (b *bench) resizable() {
	b.Helper()
	var pods corev1.PodList
	if err := b.k.List(b.Context(), &pods, client.InNamespace("default")); err != nil {
		b.Fatal(err)
	}
	for i := range pods.Items {
		p := &pods.Items[i]
		next := p.DeepCopy()
		for k := range next.Status.ContainerStatuses {
			next.Status.ContainerStatuses[k].Resources = &p.Spec.Containers[k].Resources
		}
		if err := b.k.Status().Patch(b.Context(), next, client.MergeFrom(p)); err != nil {
			b.Fatal(err)
		}
	}
}

// ask waits until the pods of all jobs request such CPUs, in the order of their jobs' names.
func (b *bench) ask(want string) time.Duration {
	b.Helper()
	return Until(b.Context(), b, within, "pods ask for "+want, func() error {
		var pods corev1.PodList
		if err := b.k.List(b.Context(), &pods, client.InNamespace("default")); err != nil {
			return err
		}
		var all []string
		for i := range pods.Items {
			p := &pods.Items[i]
			all = append(all, fmt.Sprintf("%s %dm", p.Labels[batchv1.JobNameLabel], p.Spec.Containers[0].Resources.Requests.Cpu().MilliValue()))
		}
		if got := strings.Join(all, ", "); got != want {
			return errNot("they ask for %s", got)
		}
		return nil
	})
}
