package audit_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig"
	"github.com/oxgang/oxgang/live/kube/rig/audit"
)

// A live cluster is one with an API server, and an auditor that follows it.
type live struct {
	*testing.T
	client  *kubernetes.Clientset
	dynamic *dynamic.DynamicClient
	etcd    *clientv3.Client
	watcher *audit.Watcher
}

func newLive(t *testing.T) *live {
	if testing.Short() {
		t.Skip("needs etcd and an API server")
	}
	c := rig.Start(t, rig.Options{APIOnly: true, History: true})
	d, err := dynamic.NewForConfig(c.Config)
	if err != nil {
		t.Fatal(err)
	}
	etcd := c.Etcd(t)
	return &live{T: t, client: c.Client(), dynamic: d, etcd: etcd, watcher: audit.Follow(etcd, audit.New(checks()...))}
}

func checks() []audit.Check { return audit.All(time.Minute, time.Minute) }

func (l *live) ok(err error) {
	l.Helper()
	if err != nil {
		l.Fatal(err)
	}
}

// sync returns the revision up to which everything is audited, and the findings so far.
func (l *live) sync() (revision int64, found []audit.Finding) {
	l.Helper()
	ctx, cancel := context.WithTimeout(l.Context(), time.Minute)
	defer cancel()
	revision, err := l.watcher.Sync(ctx)
	l.ok(err)
	l.watcher.Look(func(a *audit.Auditor) { found = slices.Clone(a.Findings) })
	return revision, found
}

// cluster makes a node of 8 GPUs, and what pods need that no controller makes here.
func (l *live) cluster() {
	sa := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	_, err := l.client.CoreV1().ServiceAccounts("default").Create(l.Context(), sa, metav1.CreateOptions{})
	l.ok(err)
	has := corev1.ResourceList{audit.GPU: resource.MustParse("8"), "cpu": resource.MustParse("16"), "memory": resource.MustParse("64Gi")}
	_, err = l.client.CoreV1().Nodes().Create(l.Context(), &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "n"}, Status: corev1.NodeStatus{Allocatable: has, Capacity: has},
	}, metav1.CreateOptions{})
	l.ok(err)
}

// bind makes a pod and binds it to the node, as a scheduler would that does not look.
func (l *live) bind(name, gpus string) {
	l.Helper()
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}}
	p.Spec.Containers = []corev1.Container{{Name: "c", Image: "x", Resources: corev1.ResourceRequirements{
		Limits: corev1.ResourceList{audit.GPU: resource.MustParse(gpus)},
	}}}
	_, err := l.client.CoreV1().Pods("default").Create(l.Context(), p, metav1.CreateOptions{})
	l.ok(err)
	l.ok(l.client.CoreV1().Pods("default").Bind(l.Context(), &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Target: corev1.ObjectReference{Kind: "Node", Name: "n"},
	}, metav1.CreateOptions{}))
}

// plan commits a plan, of a kind that is defined without the rules that would refuse it.
func (l *live) plan(epoch int64) {
	l.Helper()
	data := fmt.Sprintf(`{"apiVersion":"oxgang.dev/v1alpha1","kind":"Plan","metadata":{"name":"q"},"spec":{"epoch":%d,"round":1}}`, epoch)
	plans := l.dynamic.Resource(v1alpha1.GroupVersion.WithResource("plans"))
	force := true
	ctx, cancel := context.WithTimeout(l.Context(), time.Minute)
	defer cancel()
	l.ok(rig.Until(ctx, "plans to be served", func() error { // a moment after they are defined
		_, err := plans.Patch(ctx, "q", types.ApplyPatchType, []byte(data),
			metav1.PatchOptions{FieldManager: "oxgang-scheduler", Force: &force})
		if err != nil && !apierrors.IsNotFound(err) {
			return rig.Fatal{Err: err}
		}
		return err
	}))
}

func (l *live) define() {
	crd := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "plans.oxgang.dev"},
		"spec": map[string]any{
			"group": "oxgang.dev", "scope": "Cluster",
			"names": map[string]any{"plural": "plans", "kind": "Plan"},
			"versions": []any{map[string]any{
				"name": "v1alpha1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{
					"type": "object", "x-kubernetes-preserve-unknown-fields": true,
				}},
			}},
		},
	}}
	gvr := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	_, err := l.dynamic.Resource(gvr).Create(l.Context(), crd, metav1.CreateOptions{})
	l.ok(err)
}

// The auditor reads what a real API server writes: pods and nodes as protobuf, plans as JSON.
func TestRealHistory(t *testing.T) {
	l := newLive(t)
	l.cluster()
	l.define()
	l.bind("a", "6")
	l.plan(2)
	before, found := l.sync()
	if len(found) > 0 {
		t.Fatalf("nothing is wrong yet: %v", found)
	}
	l.bind("b", "3")
	l.plan(1)
	after, found := l.sync()
	l.expect(found)
	l.writes(before, after)

	again := audit.New(checks()...)
	l.ok(audit.Replay(t.Context(), l.etcd, again, 1, after))
	l.expect(again.End(time.Now()))
	if found, err := l.watcher.Stop(t.Context()); err != nil || len(found) != 3 {
		t.Errorf("at the end: %v, %v; want the three findings", found, err)
	}
}

// expect wants the over-commitment and the older epoch, and nothing else.
func (l *live) expect(found []audit.Finding) {
	l.Helper()
	want := []string{
		"I1 capacity: node n has 9 nvidia.com/gpu taken, want at most 8",
		"I1 pinned: node n has 9 nvidia.com/gpu taken, want at most 8",
		"I11 plans: epoch 1, round 1 after epoch 2, round 1, want neither to decrease",
	}
	var got []string
	for _, f := range found {
		got = append(got, f.Check+": "+f.Message)
	}
	if !slices.Equal(got, want) {
		l.Errorf("found %q, want %q", got, want)
	}
}

// writes wants one write of ours between two revisions, and that it is not taken for silence.
func (l *live) writes(before, after int64) {
	l.watcher.Look(func(a *audit.Auditor) {
		if n := a.Log.By("oxgang-scheduler", before, after); n != 1 {
			l.Errorf("oxgang-scheduler wrote %d times, want 1: %v", n, a.Log.Between(before, after))
		}
		if len(a.Log.Quiet("oxgang-scheduler", before, after)) != 1 || len(a.Log.Quiet("oxgang-scheduler", after, after)) != 0 {
			l.Error("a write was not noticed, or one that was not made")
		}
	})
}
