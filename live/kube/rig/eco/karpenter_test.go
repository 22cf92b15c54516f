package eco

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig"
	"github.com/oxgang/oxgang/live/kube/rig/audit"
	"github.com/oxgang/oxgang/live/kube/rig/e2e"
)

// keeper is the Deployment of deploy/samples/queue-autoscaled.yaml, whose pods keep a node each.
var keeper = client.ObjectKey{Namespace: "oxgang-system", Name: "a100-spot"}

// TestKarpenter: Karpenter adds nodes for planned jobs, and removes nodes without planned jobs. A job moves when
// its node is drained, and never stops because of another node. The chart and the sample are unmodified.
func TestKarpenter(t *testing.T) {
	s := grown(t)
	s.create(e2e.Job("one", "train", 1, 8, map[string]string{v1alpha1.RunSeconds: "1000"}))
	t.Logf("from none: one runs %v after it came, %v after its node was ready", s.runs("one", 1, 8), s.afterReady("one"))
	t.Logf("it runs on another node %v after its own was deleted", s.drained("one"))
	s.create(e2e.Job("two", "train", 2, 8, map[string]string{v1alpha1.RunSeconds: "1000"}))
	t.Logf("two runs on two nodes after %v, %v after the last was ready", s.runs("two", 2, 8), s.afterReady("two"))
	before := s.ids("one") + s.ids("two")
	s.create(e2e.Job("three", "train", 1, 8, map[string]string{v1alpha1.RunSeconds: "5000"}))
	t.Logf("three runs after %v, %v after its node was ready", s.runs("three", 1, 8), s.afterReady("three"))
	s.has(4)
	if after := s.ids("one") + s.ids("two"); after != before {
		t.Errorf("pods of one and two are %s, want those that ran before: %s", after, before)
	}
	before = s.ids("two") + s.ids("three")
	s.finish("one")
	t.Logf("a node that nothing is on is gone after %v", s.has(3))
	if after := s.ids("two") + s.ids("three"); after != before {
		t.Errorf("pods of two and three are %s, want those that ran before: %s", after, before)
	}
	apply(t, s.Cluster, "nodepool.yaml", "", "POLICY", "WhenEmpty")
	s.finish("two")
	s.finish("three")
	t.Logf("no node is left %v after the last job", s.has(0))
	if n := s.launched(); n != 5 {
		t.Errorf("%d nodes were launched, want 5: one each for one, before and after its node was deleted, and three, and two for two", n)
	}
	s.sound()
}

// grown starts a cluster whose queue has nodes only if Karpenter makes some.
func grown(t *testing.T) *served {
	t.Helper()
	if testing.Short() {
		t.Skip("the managers take long to start")
	}
	c := rig.Start(t, rig.Options{History: true, Nodes: []rig.Nodes{{Name: "system", Type: "none", Count: 1}}})
	Start(t, c, Karpenter)
	s := &served{t, c, e2e.Client(t, c.Config), audit.Follow(c.Etcd(t), audit.New(audit.All(patience, time.Minute)...))}
	s.chart("--set", "rbac.mode=Resize", "--set-json", `rbac.nodeGroups=[{"apiGroup": "apps", "resource": "deployments", "names": ["a100-spot"]}]`)
	apply(t, c, "nodepool.yaml", "", "POLICY", "WhenEmptyOrUnderutilized")
	objects, err := rig.ReadObjects(e2e.Root + "/deploy/samples/queue-autoscaled.yaml")
	if err != nil {
		t.Fatal(err)
	}
	q := &v1alpha1.Queue{}
	if err := errors.Join(c.Apply(t.Context(), objects[0]), runtime.DefaultUnstructuredConverter.FromUnstructured(objects[1].Object, q)); err != nil {
		t.Fatal(err)
	}
	e2e.Serve(t, c, e2e.Setup{Config: c.AsServiceAccount("oxgang-system", "oxgang"), Elects: true, LeaseNamespace: "oxgang-system"})
	q.Name, q.Spec.Namespaces, q.Spec.Round = "train", []v1alpha1.NamespaceShare{{Name: "default"}}, &metav1.Duration{Duration: time.Second}
	s.create(q)
	return s
}

// chart installs it with values.
func (s *served) chart(values ...string) {
	s.Helper()
	install := append([]string{"bin/helm", "--kubeconfig", s.Kubeconfig, "--namespace", "oxgang-system", "install", "--create-namespace", "oxgang", "deploy/charts/oxgang"}, values...)
	for _, command := range [][]string{{"make", "bin/helm"}, install} {
		cmd := exec.CommandContext(s.Context(), command[0], command[1:]...)
		cmd.Dir = e2e.Root
		if _, err := output(cmd); err != nil {
			s.Fatal(err)
		}
	}
}

// ids returns the pods of a job, for comparison.
func (s *served) ids(job string) string {
	s.Helper()
	all, err := s.workers(job)
	if err != nil {
		s.Fatal(err)
	}
	var text []string
	for i := range all {
		text = append(text, string(all[i].UID)+"@"+all[i].Spec.NodeName)
	}
	slices.Sort(text)
	return strings.Join(text, " ")
}

// finish lets the pods of a job succeed.
func (s *served) finish(job string) {
	s.Helper()
	all, err := s.workers(job)
	for i := range all {
		err = errors.Join(err, s.Exit(s.Context(), &all[i], 0))
	}
	if err != nil {
		s.Fatal(err)
	}
}

// drained deletes the node of a job of one worker, which Karpenter keeps until the job has gone, and waits until that runs on another.
func (s *served) drained(job string) time.Duration {
	s.Helper()
	all, err := s.workers(job)
	if err != nil || len(all) != 1 {
		s.Fatalf("%d workers, error %v, want one", len(all), err)
	}
	s.remove("node/" + all[0].Spec.NodeName)
	return e2e.Until(s.Context(), s, patience, job+" runs on another node", func() error {
		now, err := s.workers(job)
		if err == nil && (len(now) != 1 || now[0].Spec.NodeName == all[0].Spec.NodeName || now[0].Status.Phase != corev1.PodRunning) {
			err = errors.New(s.ids(job))
		}
		return err
	})
}

// has waits until there are so many nodes of Karpenter, of which each has a pod that keeps it, and as many are asked for.
func (s *served) has(want int) time.Duration {
	s.Helper()
	return e2e.Until(s.Context(), s, 2*patience, "nodes, and pods that keep them", func() error {
		var nodes corev1.NodeList
		var d appsv1.Deployment
		err := errors.Join(s.k.List(s.Context(), &nodes, client.HasLabels{"karpenter.sh/nodepool"}), s.k.Get(s.Context(), keeper, &d))
		if err != nil || len(nodes.Items) != want || int(*d.Spec.Replicas) != want || int(d.Status.ReadyReplicas) != want {
			return fmt.Errorf("%d nodes, %d pods that keep one, of %d, %w, want %d of each", len(nodes.Items), d.Status.ReadyReplicas, *d.Spec.Replicas, err, want)
		}
		return nil
	})
}

// launched returns how many nodes Karpenter says that it has launched.
func (s *served) launched() int {
	s.Helper()
	log, err := os.ReadFile(s.Process(origin[Karpenter].program).Log)
	if err != nil {
		s.Fatal(err)
	}
	return strings.Count(string(log), `"launched nodeclaim"`)
}

// afterReady returns the time from when the last node of a job was ready until its last pod ran, in whole seconds: a minute at most.
func (s *served) afterReady(job string) time.Duration {
	s.Helper()
	all, err := s.workers(job)
	var ready, ran time.Time
	for i := range all {
		var n corev1.Node
		err = errors.Join(err, s.k.Get(s.Context(), client.ObjectKey{Name: all[i].Spec.NodeName}, &n))
		for _, c := range n.Status.Conditions {
			if c.Type == corev1.NodeReady && c.LastTransitionTime.After(ready) {
				ready = c.LastTransitionTime.Time
			}
		}
		if at := all[i].Status.StartTime; at != nil && at.After(ran) {
			ran = at.Time
		}
	}
	if took := ran.Sub(ready); err != nil || ready.IsZero() || took > time.Minute {
		s.Errorf("%s ran %v after its nodes were ready, error %v, want a minute at most", job, took, err)
	}
	return ran.Sub(ready)
}
