package api

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/rig"
)

// TestPodSecurity: the scheduler's pod is taken where the level restricted is enforced; with
// a safeguard less it is not.
func TestPodSecurity(t *testing.T) {
	s := theServer(t)
	for _, c := range []struct {
		without []string // a field of the pod
		want    string   // in the refusal; empty: it is accepted
	}{
		{nil, ""},
		{[]string{"spec", "securityContext", "runAsNonRoot"}, "runAsNonRoot"},
		{[]string{"spec", "securityContext", "seccompProfile"}, "seccompProfile"},
	} {
		p := thePod(t)
		if c.without != nil {
			unstructured.RemoveNestedField(p.Object, c.without...)
		}
		err := s.admin.Create(t.Context(), p, client.DryRunAll)
		switch {
		case c.want == "" && err != nil:
			t.Error(err)
		case c.want != "" && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), c.want)):
			t.Errorf("without %v: got %v, want 403 and %q in it", c.without, err, c.want)
		}
	}
}

// thePod returns a pod of the chart's Deployment.
func thePod(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	all, err := rig.ReadObjects(install)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range all {
		if o.GetKind() != "Deployment" {
			continue
		}
		template, _, err := unstructured.NestedMap(o.Object, "spec", "template")
		if err != nil {
			t.Fatal(err)
		}
		p := &unstructured.Unstructured{Object: template}
		p.SetAPIVersion("v1")
		p.SetKind("Pod")
		p.SetNamespace(o.GetNamespace())
		p.SetName("x")
		return p
	}
	t.Fatal("no Deployment in the chart")
	return nil
}

// TestStrict: the API server knows every field that the chart sets.
func TestStrict(t *testing.T) {
	s := theServer(t)
	all, err := rig.ReadObjects(install)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range all {
		o.SetName("x-" + o.GetName())
		if o.GetKind() == "CustomResourceDefinition" {
			continue // their names are bound to what they define
		}
		if err := s.admin.Create(t.Context(), o, client.DryRunAll, client.FieldValidation("Strict")); err != nil {
			t.Errorf("%s %s: %v", o.GetKind(), o.GetName(), err)
		}
	}
}
