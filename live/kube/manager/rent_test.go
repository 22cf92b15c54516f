package manager

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
)

// renting returns a queue of a policy that rents nodes of a pool, and one that may not cost more
// than 2.5 an hour.
func renting(policy string, edits ...func(*v1alpha1.QueueSpec)) *v1alpha1.Queue {
	q := &v1alpha1.Queue{}
	q.Name = "train"
	q.Spec.Policy.Name = policy
	q.Spec.Budget = &v1alpha1.Budget{MilliPerHour: 2500}
	q.Spec.NodeGroups = []v1alpha1.NodeGroup{{
		Name: "spot", Scales: v1alpha1.ScaleTarget{APIVersion: "karpenter.sh/v1", Kind: "NodePool", Name: "pool"},
		NodeSelector: map[string]string{"pool": "a"}, GPUType: "a100", GPUs: 8, PriceMilliPerHour: 1000, Most: 4,
	}}
	for _, edit := range edits {
		edit(&q.Spec)
	}
	return q
}

func TestRents(t *testing.T) {
	none := func(s *v1alpha1.QueueSpec) { s.NodeGroups = nil }
	unbounded := func(s *v1alpha1.QueueSpec) { s.Budget = nil }
	for _, c := range []struct {
		name  string
		q     *v1alpha1.Queue
		older []*v1alpha1.Queue
		want  string
	}{
		{"a budget for boa", renting("boa"), nil, ""},
		{"no budget", renting("boa", unbounded), nil, ""},
		{"a budget for oxgang", renting("oxgang"), nil, ""},
		{"oxgang without a budget", renting("oxgang", unbounded), nil, ""},
		{"another policy that rents", renting("pollux-autoscale", unbounded), nil, ""},
		{"neither", renting("sia", none, unbounded), nil, ""},
		{"a policy without a budget", renting("pollux-autoscale"), nil, "policy pollux-autoscale has no budget"},
		{"a budget and no groups", renting("boa", none), nil, "spec.budget needs spec.nodeGroups"},
		{"a budget twice", renting("boa", func(s *v1alpha1.QueueSpec) { s.Policy.Settings = map[string]string{"budget": "3"} }), nil, "both set"},
		{"a policy that rents nothing", renting("sia", unbounded), nil, "policy sia does not rent nodes"},
		{"a policy that nobody knows", renting("none"), nil, `policy "none"`},
		{
			"nodes that are not the queue's",
			renting("boa", func(s *v1alpha1.QueueSpec) { s.NodeSelector = map[string]string{"team": "x", "pool": "a"} }),
			nil, "add team: x to its nodeSelector",
		},
		{"one scale twice", renting("boa", func(s *v1alpha1.QueueSpec) {
			s.NodeGroups = append(s.NodeGroups, s.NodeGroups[0])
			s.NodeGroups[1].Name = "other"
		}), nil, "other: NodePool pool is also scaled by group spot"},
		{"that of an older queue", renting("boa"), []*v1alpha1.Queue{renting("boa")}, "scaled by the older queue train"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := rents(c.q, c.older); c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestSettings(t *testing.T) {
	q := renting("boa", func(s *v1alpha1.QueueSpec) { s.Policy.Settings = map[string]string{"window": "24h"} })
	if diff := cmp.Diff(map[string]string{"window": "24h", "budget": "2.5", "unit": "money"}, settings(q)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if len(q.Spec.Policy.Settings) != 1 {
		t.Errorf("the queue was changed: %v", q.Spec.Policy.Settings)
	}
	if _, _, err := driver.NewPolicy(q.Spec.Policy.Name, settings(q)); err != nil {
		t.Error(err)
	}
	class := map[string]string{"sizes": "class", "guarantee": "user"}
	none, unbounded := func(s *v1alpha1.QueueSpec) { s.NodeGroups = nil }, func(s *v1alpha1.QueueSpec) { s.Budget = nil }
	for name, c := range map[string]struct {
		q    *v1alpha1.Queue
		want map[string]string
	}{
		"oxgang":                     {renting("oxgang", none, unbounded), class},
		"oxgang that trusts":         {renting("oxgang", none, unbounded, func(s *v1alpha1.QueueSpec) { s.Policy.Settings = map[string]string{"sizes": "stated"} }), map[string]string{"sizes": "stated", "guarantee": "user"}},
		"oxgang that rents":          {renting("oxgang", unbounded), map[string]string{"sizes": "class", "guarantee": "user", "budget": "0"}},
		"oxgang with a budget":       {renting("oxgang"), map[string]string{"sizes": "class", "guarantee": "user", "budget": "2.5", "unit": "money"}},
		"a policy without such ones": {renting("sia", none, unbounded), map[string]string{}},
	} {
		if diff := cmp.Diff(c.want, settings(c.q)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}
