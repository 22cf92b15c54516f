package cluster

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func node(id NodeID, t GPUType, gpus int) Node {
	return Node{ID: id, GPUType: t, Capacity: Resources{GPUs: gpus}}
}

func TestNew(t *testing.T) {
	c, err := New([]Node{node("b", "t4", 4), node("a", "a100", 8), node("c", "t4", 2)})
	if err != nil {
		t.Fatal(err)
	}
	want := []TypeInfo{
		{Type: "t4", Nodes: 2, GPUs: 6, PerNode: 4, Sizes: []int{2, 4}, Share: Resources{GPUs: 1}},
		{Type: "a100", Nodes: 1, GPUs: 8, PerNode: 8, Sizes: []int{8}, Share: Resources{GPUs: 1}},
	}
	if diff := cmp.Diff(want, c.Types()); diff != "" {
		t.Errorf("types by first appearance (-want +got):\n%s", diff)
	}
	if i, ok := c.Index("a"); i != 1 || !ok || c.GPUs() != 14 {
		t.Errorf("got index %d, %v and %d GPUs, want 1, true and 14", i, ok, c.GPUs())
	}
	less := c.Without(func(id NodeID) bool { return id == "a" })
	if _, ok := less.Type("a100"); ok || less.GPUs() != 6 || c.GPUs() != 14 {
		t.Errorf("without a: got %v, want 6 t4, and the old cluster as it was", less.Types())
	}
}

func TestNewJoinsAllComplaints(t *testing.T) {
	_, err := New([]Node{
		node("", "t4", 1), node("a", "", 1), node("b", "t4", 0), node("c", "t4", 1), node("c", "t4", 1),
		host("d", 1, math.NaN(), 1), host("e", 1, 1, -1), host("f", 1, 4, 0),
		rented("g", "t4", 1, "g", -1),
		{ID: "h", GPUType: "t4", Capacity: Resources{GPUs: 1}, Interruptions: math.Inf(1)},
	})
	for _, want := range []string{
		"empty ID", "no GPU type", "0 GPUs", `"c" is used twice`, "NaN CPUs", "-1 bytes of memory", "4 CPUs and 0 bytes of memory, want both or neither",
		"a price of -1, want a finite one", "+Inf interruptions an hour, want a finite number",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want %q in it", err, want)
		}
	}
}

func TestSameShape(t *testing.T) {
	share := func(id NodeID, gpus int) Share { return Share{Node: id, Resources: Resources{GPUs: gpus}} }
	p := Placement{share("a", 4), share("b", 2)}
	for _, tc := range []struct {
		name string
		q    Placement
		want bool
	}{
		{"elsewhere", Placement{share("c", 2), share("d", 4)}, true},
		{"spread", Placement{share("a", 2), share("b", 2), share("c", 2)}, false},
		{"other amounts", Placement{share("a", 3), share("b", 3)}, false},
	} {
		if got := p.SameShape(tc.q); got != tc.want {
			t.Errorf("%s: got %v, want %v", tc.name, got, tc.want)
		}
	}
	if p.GPUs() != 6 || p.Equal(Placement{share("a", 4)}) || !p.Equal(Placement{share("a", 4), share("b", 2)}) {
		t.Error("GPUs or Equal is wrong")
	}
}

func TestConfigurationString(t *testing.T) {
	if got := (Configuration{2, 16, "t4"}).String(); got != "(2, 16, t4)" { // Sia §3.3.3, its example
		t.Errorf("got %s", got)
	}
	if got := (Configuration{}).String(); got != "(none)" {
		t.Errorf("got %s", got)
	}
}
