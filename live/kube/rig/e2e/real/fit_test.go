package real

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig/e2e"
	"github.com/oxgang/oxgang/live/kube/rig/node"
	"github.com/oxgang/oxgang/model/cluster"
)

// A plan with other CPUs for a running job reaches its process where it runs, which goes on: its
// control group has another weight, and no container was started again.
func TestFit_on_a_real_node(t *testing.T) {
	c := node.Start(t, node.Options{Nodes: 1})
	e2e.Prepare(t.Context(), t, c.Cluster)
	b := &bench{T: t, Cluster: c, k: e2e.Client(t, c.Config), shared: filepath.Join(c.Dir, "shared")}
	defer b.explain()
	q := e2e.Queue("train", v1alpha1.Resize, "fifo")
	b.create(q)
	h := e2e.Plan(t, b.k, q)
	j := e2e.Job("trains", "train", 1, 2, nil)
	main := &j.Spec.Template.Spec.Containers[0]
	main.Image, main.Resources.Requests = node.Busybox, corev1.ResourceList{"cpu": resource.MustParse("100m")}
	main.Command = []string{"/bin/sh", "-c", "while true; do cat /sys/fs/cgroup/cpu/cpu.shares /sys/fs/cgroup/cpu.weight 2>/dev/null; sleep 0.2; done"}
	b.create(j)
	at := cluster.NodeID(c.Nodes[0].Name)
	h.Give(e2e.Gift{Job: "trains", Node: at, GPUs: 2, CPUs: 0.25})
	var first, last *corev1.Pod
	b.until("it runs with 0.25 CPUs", func() (err error) { first, err = b.given("trains", "250m"); return err })
	weight := b.weight(first)
	for _, cpus := range []string{"500m", "125m"} {
		q := resource.MustParse(cpus)
		h.Give(e2e.Gift{Job: "trains", Node: at, GPUs: 2, CPUs: q.AsApproximateFloat64()})
		b.until("it has "+cpus, func() (err error) { last, err = b.given("trains", cpus); return err })
		b.until("its program sees another weight", func() error {
			now := b.weight(last)
			if now == weight {
				return fmt.Errorf("it is %s as before", now)
			}
			t.Logf("the weight of its control group: %s, then %s", weight, now)
			weight = now
			return nil
		})
	}
	was, is := first.Status.ContainerStatuses[0], last.Status.ContainerStatuses[0]
	if first.UID != last.UID || is.RestartCount != 0 || was.ContainerID != is.ContainerID {
		t.Errorf("pod %s with container %s, then %s with %s, %d restarts, want the same and none", first.UID, was.ContainerID, last.UID, is.ContainerID, is.RestartCount)
	}
}

// given returns the one pod of a job, which runs, once its kubelet says that it has so many CPUs.
func (b *bench) given(name, cpus string) (*corev1.Pod, error) {
	var pods corev1.PodList
	if err := b.k.List(b.Context(), &pods, client.InNamespace("default"), client.MatchingLabels{batchv1.JobNameLabel: name}); err != nil {
		return nil, err
	}
	if len(pods.Items) != 1 || len(pods.Items[0].Status.ContainerStatuses) != 1 {
		return nil, fmt.Errorf("%d pods, want one with one container", len(pods.Items))
	}
	p, want := &pods.Items[0], resource.MustParse(cpus)
	s := &p.Status.ContainerStatuses[0]
	if s.State.Running == nil || s.Resources == nil || s.Resources.Requests.Cpu().Cmp(want) != 0 {
		return nil, fmt.Errorf("it asks for %v, state %v, has %v, conditions %v", p.Spec.Containers[0].Resources.Requests, s.State, s.Resources, p.Status.Conditions)
	}
	return p, nil
}

// weight returns the last line that a pod has said.
func (b *bench) weight(p *corev1.Pod) string {
	b.Helper()
	var last string
	e2e.Until(b.Context(), b, within, "pod "+p.Name+" says something", func() error {
		text, err := b.Client().CoreV1().Pods(p.Namespace).GetLogs(p.Name, &corev1.PodLogOptions{}).DoRaw(b.Context())
		if err != nil {
			return err
		}
		lines := strings.Fields(string(text))
		if len(lines) == 0 {
			return fmt.Errorf("nothing yet")
		}
		last = lines[len(lines)-1]
		return nil
	})
	return last
}
