package e2e

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig"
	"github.com/oxgang/oxgang/live/kube/rig/audit"
)

// TestUndefined: somebody deletes the definitions of our kinds, and with them the Queue and its Plan, while jobs run. Nothing
// is stopped. When the definitions and the queue are there again what runs is taken over as it runs, by an epoch above the last.
func TestUndefined(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	r := newRestored(t)
	w := audit.Follow(r.Etcd(t), audit.New(audit.All(time.Minute, time.Minute)...))
	before, last := r.running(), r.epoch("train")
	all, err := rig.ReadObjects(Root + "/deploy/charts/oxgang/crds")
	if err != nil {
		t.Fatal(err)
	}
	r.undefine(all)
	r.othersRun()
	r.stay(before)
	Prepare(t.Context(), t, r.Cluster)
	r.create(Queue("train", v1alpha1.Resize, "fifo"))
	r.goesOn(before, last)
	found, err := w.Stop(t.Context())
	found = slices.DeleteFunc(found, func(f audit.Finding) bool { // nobody but the plan counts rounds; goesOn looks at the epoch
		return f.Check == (&audit.Plans{}).Name() && strings.Contains(f.String(), "round 0 after")
	})
	if err != nil || len(found) > 0 {
		t.Errorf("%v, found:%s", err, lines(found))
	}
}

// undefine deletes definitions, and waits until they are gone.
func (r *restored) undefine(all []*unstructured.Unstructured) {
	r.Helper()
	for _, o := range all {
		if err := r.k.Delete(r.Context(), o.DeepCopy()); err != nil {
			r.Fatal(err)
		}
	}
	r.until("the definitions are gone", func() error {
		left := &unstructured.UnstructuredList{}
		left.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinitionList"})
		if err := r.k.List(r.Context(), left, client.Limit(10)); err != nil || len(left.Items) > 0 {
			return errNot("%d are left, %v", len(left.Items), err)
		}
		return nil
	})
}

// othersRun: a job that has nothing to do with us comes and runs, though our rules name kinds that are not there.
func (r *restored) othersRun() {
	r.Helper()
	j := Job("plain", "", 1, 0, nil)
	j.Namespace, j.Labels, j.Spec.Suspend = "kube-public", nil, nil
	j.Spec.Template.Spec.Containers[0].Resources = corev1.ResourceRequirements{}
	r.create(j)
	r.until("a job of nobody's queue runs", func() error {
		if err := r.k.Get(r.Context(), client.ObjectKeyFromObject(j), j); err != nil || j.Status.Ready == nil || *j.Status.Ready == 0 {
			return errNot("%v, %v", j.Status, err)
		}
		return nil
	})
}
