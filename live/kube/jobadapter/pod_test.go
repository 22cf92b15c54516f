package jobadapter

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/inventory"
)

// checkPin returns an error unless what happened to a gated pod is what the API server allows,
// and makes it run on that node, where it might have run before, and on no other. The rules
// are those of ValidatePodUpdate for gated pods: terms stay in number, requirements are only
// added, the nodeSelector stays, gates only go.
func checkPin(before, after *corev1.Pod, node string) error {
	was, is := inventory.Terms(&before.Spec), inventory.Terms(&after.Spec)
	if len(was) > 0 && len(was) != len(is) {
		return fmt.Errorf("%d terms became %d", len(was), len(is))
	}
	for i := range was {
		if !prefix(was[i].MatchExpressions, is[i].MatchExpressions) || !prefix(was[i].MatchFields, is[i].MatchFields) {
			return fmt.Errorf("term %d: requirements changed", i)
		}
	}
	if Gated(after) || len(after.Spec.SchedulingGates) != len(before.Spec.SchedulingGates)-1 {
		return fmt.Errorf("gates %v, want ours gone", after.Spec.SchedulingGates)
	}
	for _, name := range []string{"n1", "n2", "n3"} {
		for _, zone := range []string{"a", "b"} {
			want := meetsAny(was, name, zone) && name == node
			if got := meetsAny(is, name, zone); got != want {
				return fmt.Errorf("node %s in zone %s: may run there: %v, want %v", name, zone, got, want)
			}
		}
	}
	rest := after.DeepCopy()
	rest.Annotations, rest.Spec.SchedulingGates = before.Annotations, before.Spec.SchedulingGates
	if rest.Spec.Affinity != nil && before.Spec.Affinity == nil {
		rest.Spec.Affinity = nil
	} else if rest.Spec.Affinity != nil {
		rest.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = before.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	if diff := cmp.Diff(before, rest); diff != "" {
		return errors.New("something else changed: " + diff)
	}
	return nil
}

func prefix(a, b []corev1.NodeSelectorRequirement) bool {
	return len(a) <= len(b) && (len(a) == 0 || cmp.Equal(a, b[:len(a)]))
}

// meetsAny reports whether a node meets a required node affinity, as Kubernetes reads it: no
// terms are met by all nodes, an empty term by none.
func meetsAny(terms []corev1.NodeSelectorTerm, name, zone string) bool {
	all := func(rs []corev1.NodeSelectorRequirement, value string) bool {
		return !slices.ContainsFunc(rs, func(r corev1.NodeSelectorRequirement) bool {
			return slices.Contains(r.Values, value) != (r.Operator == corev1.NodeSelectorOpIn)
		})
	}
	return len(terms) == 0 || slices.ContainsFunc(terms, func(t corev1.NodeSelectorTerm) bool {
		return len(t.MatchExpressions)+len(t.MatchFields) > 0 && all(t.MatchExpressions, zone) && all(t.MatchFields, name)
	})
}

func gatedPod(terms []corev1.NodeSelectorTerm) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "vision", Name: "resnet-0", Annotations: map[string]string{"a": "b"}}}
	p.Spec.NodeSelector = map[string]string{"nvidia.com/gpu.product": "T4"}
	p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/licence"}, {Name: v1alpha1.PlacementGate}}
	if terms != nil {
		p.Spec.Affinity = &corev1.Affinity{
			PodAntiAffinity: &corev1.PodAntiAffinity{},
			NodeAffinity: &corev1.NodeAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution:  &corev1.NodeSelector{NodeSelectorTerms: terms},
				PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{Weight: 1}},
			},
		}
	}
	return p
}

func drawTerms(t *rapid.T) []corev1.NodeSelectorTerm {
	draw := func(key string, values ...string) []corev1.NodeSelectorRequirement {
		var all []corev1.NodeSelectorRequirement
		for range rapid.IntRange(0, 2).Draw(t, key) {
			all = append(all, corev1.NodeSelectorRequirement{
				Key:      key,
				Operator: rapid.SampledFrom([]corev1.NodeSelectorOperator{corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn}).Draw(t, "operator"),
				Values:   []string{rapid.SampledFrom(values).Draw(t, "value")},
			})
		}
		return all
	}
	var terms []corev1.NodeSelectorTerm
	for range rapid.IntRange(0, 3).Draw(t, "terms") {
		terms = append(terms, corev1.NodeSelectorTerm{MatchExpressions: draw("zone", "a", "b"), MatchFields: draw(metav1.ObjectNameField, "n1", "n2", "n3")})
	}
	return terms
}

func TestPin_property(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := gatedPod(drawTerms(t))
		after := before.DeepCopy()
		kept := before.DeepCopy()
		shared := *before // as a cache hands it out, but for its own maps
		shared.Annotations = map[string]string{"a": "b"}
		err := Pin(after, "n1", 7)
		if _ = Pin(&shared, "n1", 7); !cmp.Equal(before, kept) {
			t.Fatal("what the pod shares with others was changed")
		}
		if err == nil {
			if err := checkPin(before, after, "n1"); err != nil {
				t.Fatal(err)
			}
			if after.Annotations[v1alpha1.Epoch] != "7" || after.Annotations["a"] != "b" {
				t.Fatalf("annotations %v", after.Annotations)
			}
			return
		}
		if !cmp.Equal(before, after) {
			t.Fatal("it failed and changed the pod:", cmp.Diff(before, after))
		}
		if meetsAny(inventory.Terms(&before.Spec), "n1", "a") && meetsAny(inventory.Terms(&before.Spec), "n1", "b") {
			t.Fatal("the pod may run there:", err)
		}
	})
}

// The check above rejects careless ways to pin.
func TestCheckPin(t *testing.T) {
	zoneA := []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "zone", Operator: corev1.NodeSelectorOpIn, Values: []string{"a"}}}}}
	here := corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{"n1"}}}}
	for name, broken := range map[string]func(p *corev1.Pod){
		"terms replaced":   func(p *corev1.Pod) { setTerms(p, []corev1.NodeSelectorTerm{here}) },
		"one more term":    func(p *corev1.Pod) { setTerms(p, append(inventory.Terms(&p.Spec), here)) },
		"not pinned":       func(*corev1.Pod) {},
		"the gate stays":   func(p *corev1.Pod) { p.Spec.SchedulingGates = gatedPod(nil).Spec.SchedulingGates },
		"all gates go":     func(p *corev1.Pod) { p.Spec.SchedulingGates = nil },
		"selector dropped": func(p *corev1.Pod) { p.Spec.NodeSelector = nil },
		"preference lost": func(p *corev1.Pod) {
			p.Spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution = nil
		},
		"bound by ourselves": func(p *corev1.Pod) { p.Spec.NodeName = "n1" },
	} {
		before := gatedPod(zoneA)
		after := before.DeepCopy()
		if name != "not pinned" {
			if err := Pin(after, "n1", 1); err != nil {
				t.Fatal(err)
			}
		} else {
			after.Spec.SchedulingGates = after.Spec.SchedulingGates[:1]
		}
		broken(after)
		if err := checkPin(before, after, "n1"); err == nil {
			t.Errorf("%s: not seen", name)
		}
	}
}

func TestPin_refuses(t *testing.T) {
	elsewhere := []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{"n2"}}}}}
	bound, free := gatedPod(nil), gatedPod(nil)
	bound.Spec.NodeName, free.Spec.SchedulingGates = "n2", nil
	for want, c := range map[string]struct {
		p    *corev1.Pod
		node string
	}{
		"pod vision/resnet-0: pin: no node, want the name of one":                      {gatedPod(nil), ""},
		"pod vision/resnet-0: pin: it is bound to n2, want it gated":                   {bound, "n1"},
		"pod vision/resnet-0: pin: it has no gate oxgang.dev/placement, want it gated": {free, "n1"},
		"pod vision/resnet-0: pin to n1: its node affinity allows other nodes only":    {gatedPod(elsewhere), "n1"},
	} {
		if err := Pin(c.p, c.node, 1); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// A RayCluster is named after its RayJob, or was made by somebody else.
func TestRayJobOf(t *testing.T) {
	for cluster, want := range map[string]string{"tune-x7k2p": "tune", "a-b-x7k2p": "a-b", "shared": "", "-x7k2p": "", "tune_x7k2p": ""} {
		if got, made := RayJobOf(cluster); got != want || made != (want != "") {
			t.Errorf("%s: got %q, %v, want %q", cluster, got, made, want)
		}
	}
}
