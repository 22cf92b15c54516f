package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/manager"
	"github.com/oxgang/oxgang/live/kube/rig"
)

// After an installation, a climb to Resize, the way back and the removal of docs/guide/kubernetes.md, the cluster has
// the same objects as before, and the scheduler's account the same rights. Plans and ConfigMaps go with their queues.
func TestUninstall(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	c := rig.Start(t, rig.Options{Nodes: []rig.Nodes{{Type: "a100", Count: 1}}})
	dist := Root + "/deploy/dist/"
	t.Run("kubectl", func(t *testing.T) {
		b := &bench{T: t, Cluster: c, k: Client(t, c.Config)}
		b.leavesNothing(func() {
			if err := c.Install(t.Context(), dist+"install.yaml", dist+"rights/recommend.yaml", dist+"rights/admit.yaml", dist+"rights/resize.yaml"); err != nil {
				t.Fatal(err)
			}
		}, func() { b.delete(dist+"rights/resize.yaml", dist+"install.yaml") })
	})
	t.Run("Helm", func(t *testing.T) {
		b := &bench{T: t, Cluster: c, k: Client(t, c.Config)}
		chart := Root + "/deploy/charts/oxgang"
		b.leavesNothing(func() { helm(t, c, "install", "oxgang", chart, "--create-namespace", "--set", "rbac.mode=Resize") }, func() {
			helm(t, c, "uninstall", "oxgang")
			if err := b.k.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "oxgang-system"}}); err != nil {
				t.Fatal(err)
			}
			b.delete(chart + "/crds")
		})
	})
}

// leavesNothing installs Oxgang, uses it and removes it, and compares the objects of the cluster.
func (b *bench) leavesNothing(install, remove func()) {
	b.Helper()
	objects, rights := b.objects(), b.rights()
	install()
	p := Serve(b.T, b.Cluster, Setup{Config: b.AsServiceAccount("oxgang-system", "oxgang"), Elects: true, LeaseNamespace: "oxgang-system", Agents: "127.0.0.1:0", Names: []string{"localhost"}})
	for _, name := range []string{"train", "other"} {
		q := Queue(name, v1alpha1.Resize, "oxgang")
		if name == "other" {
			q.Spec.NodeSelector = map[string]string{"nobody": "has"}
		}
		b.create(q)
	}
	b.awaitsFirst()
	b.removed("other")
	b.patch(`{"spec":{"mode":"Observe"}}`)
	if err := p.Kill(); err != nil {
		b.Fatal(err)
	}
	remove()
	Until(b.Context(), b, within, "the cluster is as before", func() error {
		if more := without(b.objects(), objects); len(more) > 0 {
			return errNot("%d more objects: %v", len(more), more)
		}
		return nil
	})
	if now := b.rights(); !slices.Equal(now, rights) {
		b.Errorf("rights after the removal: %v, want %v", now, rights)
	}
}

// awaitsFirst waits until both queues have a Plan and the namespace has the ConfigMap of the agents.
func (b *bench) awaitsFirst() {
	b.Helper()
	Until(b.Context(), b, within, "plans and the ConfigMap are written", func() error {
		all := b.objects()
		for _, want := range []string{"plans /train", "plans /other", "configmaps default/" + manager.TrustMap} {
			if !slices.Contains(all, want) {
				return errNot("no %s", want)
			}
		}
		return nil
	})
}

// removed deletes a queue, and waits until its Plan is gone.
func (b *bench) removed(queue string) {
	b.Helper()
	if err := b.k.Delete(b.Context(), &v1alpha1.Queue{ObjectMeta: metav1.ObjectMeta{Name: queue}}); err != nil {
		b.Fatal(err)
	}
	Until(b.Context(), b, within, "the plan goes with its queue", func() error {
		err := b.k.Get(b.Context(), client.ObjectKey{Name: queue}, &v1alpha1.Plan{})
		if !apierrors.IsNotFound(err) {
			return errNot("get: %v", err)
		}
		return nil
	})
	if !slices.Contains(b.objects(), "configmaps default/"+manager.TrustMap) {
		b.Error("the ConfigMap of a namespace goes with the first of its queues")
	}
}

// delete deletes the objects of files in their order, as kubectl does.
func (b *bench) delete(files ...string) {
	b.Helper()
	for _, file := range files {
		all, err := rig.ReadObjects(file)
		if err != nil {
			b.Fatal(err)
		}
		for _, o := range all {
			if err := b.k.Delete(b.Context(), o, client.PropagationPolicy("Background")); err != nil && !apierrors.IsNotFound(err) {
				b.Fatalf("delete %s %s: %v", o.GetKind(), o.GetName(), err)
			}
		}
	}
}

// passing are kinds whose objects Kubernetes itself writes and removes.
var passing = []string{"events", "leases", "endpoints", "endpointslices", "apiservices"}

// objects lists all objects of the cluster: resource, namespace and name.
func (b *bench) objects() (all []string) {
	b.Helper()
	found, err := discovery.NewDiscoveryClientForConfig(b.Config)
	if err != nil {
		b.Fatal(err)
	}
	every, err := dynamic.NewForConfig(b.Config)
	if err != nil {
		b.Fatal(err)
	}
	lists, err := found.ServerPreferredResources()
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) {
		b.Fatal(err)
	}
	for _, l := range lists {
		group, err := schema.ParseGroupVersion(l.GroupVersion)
		if err != nil {
			b.Fatal(err)
		}
		for _, r := range l.APIResources {
			if !slices.Contains(r.Verbs, "list") || slices.Contains(passing, r.Name) {
				continue
			}
			found, err := every.Resource(group.WithResource(r.Name)).List(b.Context(), metav1.ListOptions{})
			if apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err) {
				continue
			}
			if err != nil {
				b.Fatal(err)
			}
			for i := range found.Items {
				all = append(all, objectName(r.Name, &found.Items[i]))
			}
		}
	}
	return all
}

func objectName(resource string, o *unstructured.Unstructured) string {
	return fmt.Sprintf("%s %s/%s", resource, o.GetNamespace(), o.GetName())
}

func without(all, known []string) []string {
	return slices.DeleteFunc(all, func(o string) bool { return slices.Contains(known, o) })
}

// rights lists what the scheduler's account may do in all namespaces.
func (b *bench) rights() (all []string) {
	b.Helper()
	c := Client(b, b.AsServiceAccount("oxgang-system", "oxgang"))
	review := &authorizationv1.SelfSubjectRulesReview{Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: "default"}}
	if err := c.Create(b.Context(), review); err != nil {
		b.Fatal(err)
	}
	for _, r := range review.Status.ResourceRules {
		all = append(all, fmt.Sprintf("%s %s/%s %s", strings.Join(r.Verbs, ","), strings.Join(r.APIGroups, ","), strings.Join(r.Resources, ","), strings.Join(r.ResourceNames, ",")))
	}
	slices.Sort(all)
	return all
}
