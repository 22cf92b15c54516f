package api

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/rig"
)

func TestAdmission(t *testing.T) {
	s := theServer(t)
	for i := range hostile {
		t.Run(hostile[i].name, func(t *testing.T) {
			if err := s.refused(t.Context(), &hostile[i]); err != nil {
				t.Error(err)
			}
		})
	}
	for i := range good {
		t.Run(good[i].name, func(t *testing.T) {
			if err := s.try(t.Context(), &good[i]); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestSuspend(t *testing.T) {
	s := theServer(t)
	for what, jobs := range map[bool][]attempt{true: waiting, false: free} {
		for i := range jobs {
			t.Run(fmt.Sprintf("%s/%t", jobs[i].name, what), func(t *testing.T) {
				if err := s.suspends(t.Context(), jobs[i].object, what); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestRuleRemoved: without a rule, what it refused is accepted. So each rule is needed for
// each of its attempts, and no rule is without one.
func TestRuleRemoved(t *testing.T) {
	s := theServer(t)
	policies := s.policies(t)
	for rule := 0; ; rule++ {
		var weakened []*unstructured.Unstructured
		for _, p := range policies {
			if w := without(t, p, rule); w != nil {
				weakened = append(weakened, w)
			}
		}
		if len(weakened) == 0 {
			return
		}
		t.Run(strconv.Itoa(rule), func(t *testing.T) { s.accepts(t, weakened, rule) })
	}
}

// policies returns the policies that validate.
func (s *server) policies(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	all, err := rig.ReadObjects(install)
	if err != nil {
		t.Fatal(err)
	}
	more, err := rig.ReadObjects(full)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range more {
		if o.GetName() == "oxgang-gpus" {
			all = append(all, o)
		}
	}
	return slices.DeleteFunc(all, func(o *unstructured.Unstructured) bool {
		return o.GetKind() != "ValidatingAdmissionPolicy"
	})
}

// without returns a policy whose rule of that index allows everything; nil: it has none.
func without(t *testing.T, p *unstructured.Unstructured, rule int) *unstructured.Unstructured {
	t.Helper()
	p = p.DeepCopy()
	rules, _, err := unstructured.NestedSlice(p.Object, "spec", "validations")
	if err != nil {
		t.Fatal(err)
	}
	if rule >= len(rules) {
		return nil
	}
	name := p.GetName() + "/" + strconv.Itoa(rule)
	if !slices.ContainsFunc(hostile, func(a attempt) bool { return a.rule == name }) {
		t.Errorf("rule %s refuses none of the attempts, want one", name)
	}
	rules[rule].(map[string]any)["expression"] = "true"
	if err := unstructured.SetNestedSlice(p.Object, rules, "spec", "validations"); err != nil {
		t.Fatal(err)
	}
	return p
}

// accepts fails the test unless, with weakened policies, what only the rule of that index
// refuses is accepted.
func (s *server) accepts(t *testing.T, weakened []*unstructured.Unstructured, rule int) {
	t.Helper()
	for _, w := range weakened {
		if err := s.apply(t.Context(), w); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { s.restore(t, s.policies(t)...) })
	for i := range hostile {
		if strings.HasSuffix(hostile[i].rule, "/"+strconv.Itoa(rule)) {
			if err := poll(t.Context(), func() error { return s.try(t.Context(), &hostile[i]) }); err != nil {
				t.Errorf("%s: got %v without its rule, want it accepted", hostile[i].name, err)
			}
		}
	}
}

// restore applies objects as they were, and waits until they hold.
func (s *server) restore(t *testing.T, all ...*unstructured.Unstructured) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	for _, o := range all {
		if err := s.apply(ctx, o); err != nil {
			t.Error(err)
		}
	}
	if err := s.settle(ctx); err != nil {
		t.Error(err)
	}
}

// TestSuspendRemoved: without the binding of the policy jobs are created as they are.
func TestSuspendRemoved(t *testing.T) {
	s := theServer(t)
	binding := &unstructured.Unstructured{}
	binding.SetAPIVersion("admissionregistration.k8s.io/v1")
	binding.SetKind("MutatingAdmissionPolicyBinding")
	binding.SetName("oxgang-suspend")
	if err := s.admin.Get(t.Context(), client.ObjectKeyFromObject(binding), binding); err != nil {
		t.Fatal(err)
	}
	if err := s.admin.Delete(t.Context(), binding.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	binding.SetResourceVersion("")
	binding.SetUID("")
	binding.SetManagedFields(nil)
	t.Cleanup(func() { s.restore(t, binding) })
	for i := range waiting {
		if err := poll(t.Context(), func() error { return s.suspends(t.Context(), waiting[i].object, false) }); err != nil {
			t.Errorf("%s: %v", waiting[i].name, err)
		}
	}
}
