package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/internal/testdata"
	"github.com/oxgang/oxgang/live/kube"
	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig"
	"github.com/oxgang/oxgang/live/kube/rig/eco"
)

// The namespaces of cases/kube.
const (
	vision = "vision"
	speech = "speech"
)

// A caseBench plays the objects of cases/kube. Users have the ClusterRole edit in one namespace each.
type caseBench struct {
	*bench
	user map[string]client.Client // by namespace
}

// TestCases creates each object of cases/kube as a user. None gets GPUs past the plan or holds them without pods, and
// none is rejected for a wrong reason. TestShares has 04.
func TestCases(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	t.Chdir(Root) // ../shared is next to the main module
	testdata.Case(t, "kube")
	c := rig.Start(t, rig.Options{Nodes: []rig.Nodes{{Type: "a100", Count: 4}, {Type: "NVIDIA-H100-80GB-HBM3", Count: 2}}})
	eco.Define(t, c, eco.JobSet)
	b := newCaseBench(t, c)
	for _, k := range []struct {
		file string
		play func(*caseBench, []*unstructured.Unstructured)
	}{
		{"01-escape-by-finalizer", addsFinalizer},
		{"02-escape-by-owner", changesOwner},
		{"03-nodename", func(b *caseBench, all []*unstructured.Unstructured) { b.told(all[0], kube.Misconfigured, "nodeName") }},
		{"05-anti-affinity", func(b *caseBench, all []*unstructured.Unstructured) {
			b.told(all[0], kube.Unschedulable, "request all GPUs of a node for each pod")
		}},
		{"07-managedby-holds-all", func(b *caseBench, all []*unstructured.Unstructured) {
			b.told(all[0], kube.Misconfigured, "managedBy")
			b.told(all[1], kube.Misconfigured, "example.com/never")
		}},
		{"08-successpolicy", func(b *caseBench, _ []*unstructured.Unstructured) { b.start(speech, "sp", 4) }},
		{"09-silent-shrink", func(b *caseBench, _ []*unstructured.Unstructured) { b.start(vision, "resnet", 4) }},
		{"10-impossible-that-was-not", waitsForOthersPods},
		{"11-time-sliced-node", addsSlicedNode},
		{"12-jobset-leader-selector", needsLeaderNode},
	} {
		t.Run(k.file, func(t *testing.T) {
			b := &caseBench{bench: &bench{T: t, Cluster: c, k: b.k}, user: b.user}
			all, err := rig.ReadObjects(testdata.Case(t, "kube/"+k.file+".yaml"))
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range all {
				if user := b.user[o.GetNamespace()]; user != nil {
					b.createAs(user, o)
				}
			}
			k.play(b, all)
			b.empty(vision, speech)
		})
	}
}

func newCaseBench(t *testing.T, c *rig.Cluster) *caseBench {
	t.Helper()
	if err := c.Install(t.Context(), Root+"/deploy/dist/install.yaml", Root+"/deploy/dist/rights/resize.yaml"); err != nil {
		t.Fatal(err)
	}
	denyOutside(t, c)
	b := &caseBench{bench: &bench{T: t, Cluster: c, k: Client(t, c.Config)}, user: map[string]client.Client{}}
	q := Queue("research", v1alpha1.Resize, "oxgang")
	q.Spec.Namespaces = []v1alpha1.NamespaceShare{{Name: vision}, {Name: speech}}
	q.Spec.Limits = v1alpha1.JobLimits{DenyOptOut: true, DenyNonPreemptible: true, IgnoreDisruptionBudgets: true}
	for _, name := range []string{vision, speech} {
		b.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
		b.create(&rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "edit", Namespace: name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "edit"},
			Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}},
		})
		b.user[name] = Client(t, c.As(name))
	}
	b.create(&rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "edit-jobsets", Labels: map[string]string{"rbac.authorization.k8s.io/aggregate-to-edit": "true"}},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{"jobset.x-k8s.io"}, Resources: []string{"jobsets"}, Verbs: []string{"*"}}},
	})
	b.create(q)
	Serve(t, c, Setup{Config: c.AsServiceAccount("oxgang-system", "oxgang"), Elects: true, LeaseNamespace: "oxgang-system", Lease: "3s 2s 500ms"})
	first := Job("first", "research", 1, 8, nil)
	first.Namespace, first.Spec.Suspend = vision, nil
	b.awaitRules(first)
	b.start(vision, "first", 1)
	b.empty(vision, speech)
	return b
}

// createAs repeats a create that is forbidden until a role reaches its users.
func (b *caseBench) createAs(user client.Client, o *unstructured.Unstructured) {
	b.Helper()
	Until(b.Context(), b, within, "it is created", func() error { return user.Create(b.Context(), o.DeepCopy()) })
}

// start waits until a job has as many running pods.
func (b *caseBench) start(namespace, job string, pods int) {
	b.Helper()
	took := Until(b.Context(), b, within, job+" runs", func() error {
		var all corev1.PodList
		if err := b.k.List(b.Context(), &all, client.InNamespace(namespace), client.MatchingLabels{batchv1.JobNameLabel: job}, client.MatchingFields{"status.phase": "Running"}); err != nil {
			return err
		}
		if len(all.Items) != pods {
			return errNot("%d of %d pods run; %s", len(all.Items), pods, b.state())
		}
		return nil
	})
	b.Logf("%s runs after %v", job, took)
}

// told waits until the condition of a job has a reason and a text, while nothing is planned for it.
func (b *caseBench) told(o *unstructured.Unstructured, reason, text string) {
	b.Helper()
	Until(b.Context(), b, within, o.GetName()+" is "+reason, func() error {
		got := b.condition(o)
		if !strings.HasPrefix(got, reason+": ") || !strings.Contains(got, text) {
			return errNot("%s", got)
		}
		return nil
	})
	if on := b.planned(o); len(on) > 0 {
		b.Errorf("%s is planned on %v", o.GetName(), on)
	}
	b.Log(b.condition(o))
}

// planned returns the nodes that the plan has for a job.
func (b *caseBench) planned(o *unstructured.Unstructured) []v1alpha1.NodeShare {
	b.Helper()
	var p v1alpha1.Plan
	if err := b.k.Get(b.Context(), client.ObjectKey{Name: "research"}, &p); err != nil {
		b.Fatal(err)
	}
	for _, a := range p.Spec.Allocations {
		if a.Name == o.GetName() {
			return a.Nodes
		}
	}
	return nil
}

func (b *caseBench) condition(o *unstructured.Unstructured) string {
	now := o.DeepCopy()
	if err := b.k.Get(b.Context(), client.ObjectKeyFromObject(o), now); err != nil {
		return err.Error()
	}
	all, _, _ := unstructured.NestedSlice(now.Object, "status", "conditions")
	for _, one := range all {
		if c, _ := one.(map[string]any); c["type"] == v1alpha1.ScheduledCondition {
			return fmt.Sprintf("%v: %v", c["reason"], c["message"])
		}
	}
	return "no condition"
}

// refusedBy fails the test unless err names a policy.
func (b *caseBench) refusedBy(err error, policy string) {
	b.Helper()
	if err == nil || !strings.Contains(err.Error(), policy) {
		b.Errorf("got %v, want that %s refuses it", err, policy)
	}
}

func (b *caseBench) patchAs(namespace string, o *unstructured.Unstructured, change map[string]any) error {
	data, err := json.Marshal(change)
	if err != nil {
		b.Fatal(err)
	}
	return b.user[namespace].Patch(b.Context(), o.DeepCopy(), client.RawPatch(types.MergePatchType, data))
}

func addsFinalizer(b *caseBench, all []*unstructured.Unstructured) {
	b.start(speech, "f", 1)
	finalizers := func(to any) map[string]any { return map[string]any{"metadata": map[string]any{"finalizers": to}} }
	if err := b.patchAs(speech, all[0], finalizers([]string{"example.com/x"})); err != nil {
		b.Fatal(err)
	}
	b.refusedBy(b.user[speech].Delete(b.Context(), all[0].DeepCopy(), client.PropagationPolicy("Background")), byOrphan)
	b.start(speech, "f", 1)
	if err := b.patchAs(speech, all[0], finalizers(nil)); err != nil {
		b.Fatal(err)
	}
}

func changesOwner(b *caseBench, all []*unstructured.Unstructured) {
	b.start(speech, "fo0", 2)
	b.refusedBy(b.patchAs(speech, all[0], map[string]any{"metadata": map[string]any{"ownerReferences": []any{map[string]any{
		"apiVersion": "ray.io/v1", "kind": "RayJob", "name": "none", "uid": "11111111-2222-3333-4444-555555555555", "controller": true,
	}}}}), byJobs)
}

// waitsForOthersPods: pods outside the queue hold 2 GPUs of each of three A100 nodes. The job needs all A100 nodes; it waits and
// runs when the pods are gone.
func waitsForOthersPods(b *caseBench, all []*unstructured.Unstructured) {
	b.empty(vision)
	var others []*corev1.Pod
	for i := range 3 {
		p := foreign(fmt.Sprintf("other-%d", i), 2)
		p.Spec.NodeName = fmt.Sprintf("a100-%d", i)
		b.create(p)
		others = append(others, p)
	}
	b.createAs(b.user[vision], all[0])
	Until(b.Context(), b, within, "the condition names a reason", func() error {
		got := b.condition(all[0])
		if strings.Contains(got, "never") || strings.HasPrefix(got, kube.Unschedulable) {
			b.Fatalf("condition %q: it runs when the others end", got)
		}
		if got == "no condition" {
			return errNot("no condition")
		}
		b.Log(got)
		return nil
	})
	for _, p := range others {
		if err := b.k.Delete(b.Context(), p, client.GracePeriodSeconds(0)); err != nil {
			b.Fatal(err)
		}
	}
	b.start(vision, "four", 4)
}

func addsSlicedNode(b *caseBench, all []*unstructured.Unstructured) {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: all[0].GetName(), Labels: all[0].GetLabels()}}
	n.Labels[rig.Alive] = "true"
	n.Status.Allocatable = corev1.ResourceList{rig.GPU: resource.MustParse("50"), corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("16Gi"), corev1.ResourcePods: resource.MustParse("110")}
	n.Status.Capacity = n.Status.Allocatable
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	b.create(n)
	j := Job("small", "research", 1, 2, nil)
	j.Namespace = vision
	b.create(j)
	b.start(vision, "small", 1)
	Until(b.Context(), b, within, "the queue has 48 GPUs", func() error {
		var q v1alpha1.Queue
		if err := b.k.Get(b.Context(), client.ObjectKey{Name: "research"}, &q); err != nil || q.Status.GPUs == 0 {
			return errNot("%+v, %v", q.Status, err)
		}
		if q.Status.GPUs != 48 {
			b.Fatalf("the queue has %d GPUs, want 48 without the shared GPU", q.Status.GPUs)
		}
		return nil
	})
	if err := b.k.Delete(b.Context(), n); err != nil {
		b.Fatal(err)
	}
}

// needsLeaderNode: nine nodes of a type have room for all pods, but no node has the leader's label. When a node has it, the
// plan includes this node, and the JobSet is started. JobSet's controller does not run here.
func needsLeaderNode(b *caseBench, all []*unstructured.Unstructured) {
	for _, n := range []rig.Nodes{{Type: "NVIDIA-B200", Count: 9}, {Type: "none", Name: "cpu", Count: 1, Labels: map[string]string{"pool": "cpu"}}} {
		if err := b.AddNodes(b.Context(), n); err != nil {
			b.Fatal(err)
		}
	}
	b.told(all[0], kube.Unschedulable, "pool=big-memory")
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "nvidia-b200-8"}}
	if err := b.k.Patch(b.Context(), n, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"pool":"big-memory"}}}`))); err != nil {
		b.Fatal(err)
	}
	Until(b.Context(), b, within, "it is started, with the leader's node", func() error {
		now := all[0].DeepCopy()
		if err := b.k.Get(b.Context(), client.ObjectKeyFromObject(now), now); err != nil {
			return err
		}
		suspended, _, _ := unstructured.NestedBool(now.Object, "spec", "suspend")
		if nodes := fmt.Sprint(b.planned(all[0])); suspended || !strings.Contains(nodes, n.Name) {
			return errNot("suspended %v, on %s; %s", suspended, nodes, b.condition(all[0]))
		}
		return nil
	})
}
