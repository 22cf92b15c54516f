package e2e

import (
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
)

// keeper is the Deployment of deploy/samples/queue-autoscaled.yaml.
var keeper = client.ObjectKey{Namespace: "oxgang-system", Name: "a100-spot"}

// TestAutoscaled: an autoscaler brings nodes for what is planned, from none on, because of pods that keep a node each; it takes
// away those that nothing is planned on, and no other. The chart, and the objects of the sample, are as they come.
func TestAutoscaled(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	s := newAutoscaled(t, "")
	s.submit("one", 1)
	s.Logf("from none: one runs %v after it came, %v after its node was ready", s.runs("one", 1).Round(100*time.Millisecond), s.afterReady("one"))
	s.submit("two", 2)
	s.Logf("two runs on two nodes after %v, %v after the last was ready", s.runs("two", 2).Round(100*time.Millisecond), s.afterReady("two"))
	s.has(3)
	before := s.pods("two")
	finish(t, s.Cluster, s.k, "one")
	s.Logf("a node that nothing is on is gone after %v", s.has(2).Round(100*time.Millisecond))
	if after := s.pods("two"); after != before {
		t.Errorf("pods of two are %s, want those that ran before: %s", after, before)
	}
	s.follower()
	if after := s.pods("two"); after != before {
		t.Errorf("pods of two are %s, want those that ran before three came: %s", after, before)
	}
	for _, job := range []string{"two", "three"} {
		finish(t, s.Cluster, s.k, job)
	}
	s.Logf("no node is left %v after the last job", s.has(0).Round(100*time.Millisecond))
	s.full()
	s.judge()
}

// A scaling is a cluster with an autoscaler of one pool, of which three nodes are to be had.
type scaling struct {
	*bench
	scheduler *rig.Process
	watcher   *audit.Watcher
}

// newAutoscaled starts a cluster whose only queue has no nodes of its own. bugs are defects of the scheduler.
func newAutoscaled(t *testing.T, bugs string) *scaling {
	t.Helper()
	c := rig.Start(t, rig.Options{History: true, Nodes: []rig.Nodes{{Name: "system", Type: "none", Count: 1}}})
	s := &scaling{bench: &bench{T: t, Cluster: c, k: Client(t, c.Config)}}
	s.watcher = audit.Follow(c.Etcd(t), audit.New(audit.All(time.Minute, time.Minute)...))
	helm(t, c, "install", "--create-namespace", "oxgang", Root+"/deploy/charts/oxgang", "--set", "rbac.mode=Resize",
		"--set-json", `rbac.nodeGroups=[{"apiGroup": "apps", "resource": "deployments", "names": ["a100-spot"]}]`)
	objects, err := rig.ReadObjects(Root + "/deploy/samples/queue-autoscaled.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Apply(t.Context(), objects[:1]...); err != nil {
		t.Fatal(err)
	}
	autoscale(t, c, s.k, 3*time.Second, 5*time.Second, map[string]int{"a100-spot": 3})
	s.serve(bugs)
	q := &v1alpha1.Queue{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(objects[1].Object, q); err != nil {
		t.Fatal(err)
	}
	q.Spec.Namespaces, q.Spec.Round = []v1alpha1.NamespaceShare{{Name: "default"}}, &metav1.Duration{Duration: time.Second}
	q.Spec.NodeGroups[0].StartWithin, q.Spec.NodeGroups[0].Most = &metav1.Duration{Duration: 15 * time.Second}, 6
	s.create(q)
	return s
}

// serve starts a scheduler, with the rights of the chart; the one before is killed.
func (s *scaling) serve(bugs string) {
	s.Helper()
	if s.scheduler != nil {
		if err := s.scheduler.Kill(); err != nil {
			s.Fatal(err)
		}
	}
	s.scheduler = Serve(s, s.Cluster, Setup{
		Config: s.AsServiceAccount("oxgang-system", "oxgang"), Elects: true, LeaseNamespace: "oxgang-system", Lease: "3s 2s 500ms", Bugs: bugs,
	})
}

// submit makes a job whose workers have a node each.
func (s *scaling) submit(name string, workers int) {
	s.Helper()
	j := Job(name, "autoscaled", workers, 8, map[string]string{v1alpha1.RunSeconds: "1000"})
	s.create(j)
}

// afterReady returns the time from when the last node of a job was ready until its last pod ran, in whole seconds.
func (s *scaling) afterReady(job string) time.Duration {
	s.Helper()
	var all corev1.PodList
	if err := s.k.List(s.Context(), &all, client.InNamespace("default"), client.MatchingLabels{"batch.kubernetes.io/job-name": job}); err != nil {
		s.Fatal(err)
	}
	var ready, ran time.Time
	for i := range all.Items {
		var n corev1.Node
		if err := s.k.Get(s.Context(), client.ObjectKey{Name: all.Items[i].Spec.NodeName}, &n); err != nil {
			s.Fatal(err)
		}
		for _, c := range n.Status.Conditions {
			if c.Type == corev1.NodeReady && c.LastTransitionTime.After(ready) {
				ready = c.LastTransitionTime.Time
			}
		}
		if at := all.Items[i].Status.StartTime; at != nil && at.After(ran) {
			ran = at.Time
		}
	}
	if took := ran.Sub(ready); took <= time.Minute {
		return took
	}
	s.Errorf("%v after its node was ready, want at most a minute", ran.Sub(ready))
	return ran.Sub(ready)
}

// has waits until the pool has so many nodes, of which each has a pod that keeps it, and as many are asked for.
func (s *scaling) has(want int) time.Duration {
	s.Helper()
	return Until(s.Context(), s, patience, "nodes, and pods that keep them", func() error {
		var nodes corev1.NodeList
		if err := s.k.List(s.Context(), &nodes, client.MatchingLabels{autoscaled: keeper.Name}); err != nil {
			return err
		}
		d, err := s.keeps()
		if err != nil || len(nodes.Items) != want || int(*d.Spec.Replicas) != want || int(d.Status.ReadyReplicas) != want {
			return errNot("%d nodes, %d pods that keep one, of %d, %v, want %d of each; %s", len(nodes.Items), d.Status.ReadyReplicas, *d.Spec.Replicas, err, want, s.state())
		}
		return nil
	})
}

func (s *scaling) keeps() (*appsv1.Deployment, error) {
	d := &appsv1.Deployment{}
	return d, s.k.Get(s.Context(), keeper, d)
}

// follower kills the scheduler while a node is on its way: the next one goes on with that.
func (s *scaling) follower() {
	s.Helper()
	s.submit("three", 1)
	Until(s.Context(), s, within, "a third node is asked for", func() error {
		if d, err := s.keeps(); err != nil || *d.Spec.Replicas != 3 {
			return errNot("%d, %v", *d.Spec.Replicas, err)
		}
		return nil
	})
	s.serve("")
	s.runs("three", 1)
	s.has(3)
}

// full lets a job want more nodes than the autoscaler brings: that is given up, and another job runs on those that came. They
// are kept for a while, because they were wanted.
func (s *scaling) full() {
	s.Helper()
	s.submit("four", 4)
	Until(s.Context(), s, within, "more nodes are asked for than there can be", func() error {
		if d, err := s.keeps(); err != nil || *d.Spec.Replicas <= 3 {
			return errNot("%d, %v", *d.Spec.Replicas, err)
		}
		return nil
	})
	s.Logf("what does not come is given up after %v", s.has(3).Round(100*time.Millisecond))
	s.submit("five", 2)
	s.runs("five", 2)
}

// judge fails for what the auditor has found, at any revision.
func (s *scaling) judge() {
	s.Helper()
	found, err := s.watcher.Stop(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	for _, f := range found {
		s.Error(f)
	}
}
