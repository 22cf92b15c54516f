package inventory

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/model/cluster"
)

// groups are one of spot nodes, and one of all nodes of the pool.
var groups = []v1alpha1.NodeGroup{
	{Name: "spot", NodeSelector: map[string]string{"pool": "a", "spot": "true"}, GPUType: "a100", GPUs: 8, PriceMilliPerHour: 4000, Most: 3},
	{Name: "all", NodeSelector: map[string]string{"pool": "a"}, GPUType: "a100", GPUs: 8, MilliCPUs: 1500, MemoryBytes: 7, PriceMilliPerHour: 12000, Most: 2},
}

func TestGroup(t *testing.T) {
	for want, edits := range map[string][]func(*corev1.Node){
		"":     {label("spot", "true")},
		"all":  {label("pool", "a"), label("spot", "false")},
		"spot": {label("spot", "true"), label("pool", "a")},
	} {
		got := ""
		if g := Group(groups, node("n", edits...)); g != nil {
			got = g.Name
		}
		if got != want {
			t.Errorf("group %q, want %q", got, want)
		}
	}
}

func TestOffer(t *testing.T) {
	want := cluster.Offer{Group: "all", Most: 2, Node: cluster.Node{
		GPUType: "a100", Group: "all", Tenure: cluster.Rented, Price: 1.5, Capacity: cluster.Resources{GPUs: 8, CPUs: 1.5, Memory: 7},
	}}
	if diff := cmp.Diff(want, Offer(&groups[1])); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Nodes of a group are rented, also those that are marked: which of them leave, the plan says.
// In a queue without groups the mark keeps pods off like any other taint.
func TestRead_groups(t *testing.T) {
	n := node("n", label("pool", "a"))
	if !Leave(n, "train") || Leave(n, "train") {
		t.Error("want a node marked once")
	}
	o := &Options{GPUResource: "nvidia.com/gpu", Groups: groups}
	none := func(*corev1.Pod) bool { return false }
	found := Read([]*corev1.Node{n}, nil, none, o)
	if len(found) != 1 || found[0].Tenure != cluster.Rented || found[0].Group != "all" || found[0].Price != 1.5 {
		t.Errorf("got %+v, want a node that is rented", found)
	}
	o.Groups = nil
	if found := Read([]*corev1.Node{n}, nil, none, o); len(found) != 0 {
		t.Errorf("got %+v, want none", found)
	}
	if !Stay(n) || Stay(n) || Leaving(n) {
		t.Error("want the mark taken away once")
	}
	if found := Read([]*corev1.Node{n}, nil, none, o); len(found) != 1 || found[0].Tenure != cluster.Owned {
		t.Errorf("got %+v, want one that is owned", found)
	}
}
