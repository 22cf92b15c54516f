package api

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig"
)

// ofKind returns an object of ours: its name and its spec, in JSON.
func ofKind(kind, name, spec string) (*unstructured.Unstructured, error) {
	text := fmt.Sprintf(`{"apiVersion": "oxgang.dev/v1alpha1", "kind": %q, "metadata": {"name": %q}, "spec": %s}`, kind, name, spec)
	o := &unstructured.Unstructured{}
	if err := o.UnmarshalJSON([]byte(text)); err != nil {
		return nil, fmt.Errorf("%w in %.200s", err, text)
	}
	return o, nil
}

// TestSchema: an object with one thing wrong is refused with 422, and the field is named.
func TestSchema(t *testing.T) {
	s := theServer(t)
	for _, c := range unfit {
		t.Run(c.kind+"/"+c.what, func(t *testing.T) {
			o, err := ofKind(c.kind, c.name, c.spec)
			if err != nil {
				t.Fatal(err)
			}
			err = s.admin.Create(t.Context(), o, client.DryRunAll)
			if err == nil {
				t.Fatal("it was accepted")
			}
			if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), c.field) {
				t.Errorf("got %.300s, want 422 and %q in it", err, c.field)
			}
		})
	}
}

// TestLimits: the largest and the smallest that is allowed is accepted.
func TestLimits(t *testing.T) {
	s := theServer(t)
	for _, c := range fit {
		t.Run(c.kind+"/"+c.what, func(t *testing.T) {
			o, err := ofKind(c.kind, c.name, c.spec)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.admin.Create(t.Context(), o, client.DryRunAll); err != nil {
				t.Errorf("%.300s", err)
			}
		})
	}
}

// TestSamples: what we show to people is what the API server takes, with strict fields.
func TestSamples(t *testing.T) {
	s := theServer(t)
	files, err := filepath.Glob(root + "/deploy/samples/*.yaml")
	if err != nil || len(files) < 7 {
		t.Fatalf("%d samples, %v, want at least 7", len(files), err)
	}
	for _, file := range files {
		all, err := rig.ReadObjects(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range all {
			if o.GetNamespace() != "" {
				o.SetNamespace("team-a")
			}
			if o.GetKind() == "Queue" {
				o.SetName("sample-" + o.GetName()) // there is an elastic one
			}
			if err := s.admin.Create(t.Context(), o, client.DryRunAll, client.FieldValidation("Strict")); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
}

// TestPlanOnlyGrows: the epoch of a plan never goes back, nor does its round within an epoch.
func TestPlanOnlyGrows(t *testing.T) {
	s := theServer(t)
	p := &unstructured.Unstructured{}
	p.SetAPIVersion(v1alpha1.GroupVersion.String())
	p.SetKind("Plan")
	p.SetName("elastic") // epoch 5, round 7
	for spec, field := range map[string]string{
		`{"epoch": 4, "round": 9}`:                   "an older epoch",
		`{"epoch": 0}`:                               "an older epoch",
		`{"epoch": 5, "round": 6}`:                   "an older round",
		`{"epoch": null}`:                            "spec.epoch",
		`{"round": null}`:                            "spec.round",
		`{"epoch": 5, "round": 7, "leader": "same"}`: "",
		`{"epoch": 5, "round": 8}`:                   "",
		`{"epoch": 6, "round": 0}`:                   "",
	} {
		err := s.admin.Patch(t.Context(), p.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"spec": `+spec+`}`)), client.DryRunAll)
		switch {
		case field == "" && err != nil:
			t.Errorf("%s: %v", spec, err)
		case field != "" && (!apierrors.IsInvalid(err) || !strings.Contains(err.Error(), field)):
			t.Errorf("%s: got %v, want 422 and %q in it", spec, err, field)
		}
	}
}

// TestStatusIsNotSpec: who may write a spec does not write the status with it.
func TestStatusIsNotSpec(t *testing.T) {
	s := theServer(t)
	q, err := ofKind("Queue", "x", `{}`)
	if err != nil {
		t.Fatal(err)
	}
	q.Object["status"] = map[string]any{"running": int64(7)}
	if err := s.as(people["admin"]).Create(t.Context(), q, client.DryRunAll); err != nil {
		t.Fatal(err)
	}
	if got, ok := q.Object["status"]; ok {
		t.Errorf("status: got %v, want nothing", got)
	}
	for _, who := range []string{"tenant", "viewer", "editor", "admin"} {
		q.SetName("elastic")
		q.SetResourceVersion("")
		err := s.as(people[who]).Status().Patch(t.Context(), bare(q), client.RawPatch(types.MergePatchType, []byte(`{"status":{"running":7}}`)), client.DryRunAll)
		if !apierrors.IsForbidden(err) {
			t.Errorf("%s writes a status: got %v, want 403", who, err)
		}
	}
}

// TestRefusedByTheSchema: a status out of range is refused, whoever writes it.
func TestRefusedByTheSchema(t *testing.T) {
	s := theServer(t)
	for status, field := range map[string]string{
		`{"running": -1}`:            "status.running",
		`{"gpus": 2147483648}`:       "gpus",
		`{"observedGeneration": -1}`: "status.observedGeneration",
		`{"waiting": 1.5}`:           "status.waiting",
		`{"conditions": [{"type": "Active", "status": "Maybe", "reason": "R", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}`: "status.conditions[0].status",
	} {
		q, err := ofKind("Queue", "elastic", `{}`)
		if err != nil {
			t.Fatal(err)
		}
		err = s.as(scheduler).Status().Patch(t.Context(), bare(q), client.RawPatch(types.MergePatchType, []byte(`{"status":`+status+`}`)), client.DryRunAll)
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: got %v, want 422 and %q in it", status, err, field)
		}
	}
}
