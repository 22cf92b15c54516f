package kube

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/execute"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/kube/kubetest"
	"github.com/oxgang/oxgang/model/job"
)

// A queue whose nodes are tainted has none, unless it tolerates that: then its jobs run there,
// also those that say nothing of taints.
func TestTolerations(t *testing.T) {
	for _, tolerates := range []bool{false, true} {
		twin := newTwin()
		for _, name := range []string{"n0", "n1"} {
			n := twin.Node(name)
			n.Spec.Taints = []corev1.Taint{{Key: "dedicated", Value: "training", Effect: corev1.TaintEffectNoSchedule}}
			twin.Update(n)
		}
		o := options(v1alpha1.Resize)
		if tolerates {
			o.Queue.Spec.Tolerations = []v1alpha1.Toleration{{Key: "dedicated", Operator: "Exists"}}
			o.Nodes.Tolerations = execute.Tolerations(o.Queue)
		}
		id := twin.Submit(queue, &kubetest.Ask{Name: "a", Workers: 2, GPUs: 2}).UID
		w := open(t, twin, o)
		if got := len(w.Cluster().Nodes()); got != map[bool]int{true: 2}[tolerates] {
			t.Errorf("%d nodes where it tolerates their taint (%v)", got, tolerates)
		}
		if !tolerates {
			continue
		}
		news(t, w)
		do(t, w, runOn(job.ID(id), on("n0", 4)))
		pass(t, w, twin)
		for _, p := range twin.PodsOf("a") {
			if p.Spec.NodeName != "n0" || !jobstate.Ready(p) {
				t.Errorf("pod %s is on %q and %s, want it to run", p.Name, p.Spec.NodeName, p.Status.Phase)
			}
		}
		if err := twin.Wrong(); err != nil {
			t.Error(err)
		}
	}
}
