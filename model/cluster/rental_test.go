package cluster

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func rented(id NodeID, t GPUType, gpus int, g Group, price Price) Node {
	n := node(id, t, gpus)
	n.Tenure, n.Group, n.Price = Rented, g, price
	return n
}

func TestOffers(t *testing.T) {
	c, err := New([]Node{rented("b", "t4", 4, "spare", 0.5), node("own", "t4", 4), rented("c", "a100", 8, "big", 0), rented("a", "t4", 4, "spare", 0.5)})
	if err != nil {
		t.Fatal(err)
	}
	want := []Offer{
		{Group: "spare", Node: rented("", "t4", 4, "spare", 0.5), Most: 2},
		{Group: "big", Node: rented("", "a100", 8, "big", 0), Most: 1},
	}
	offers := c.Offers()
	if diff := cmp.Diff(want, offers); diff != "" {
		t.Errorf("offers (-want +got):\n%s", diff)
	}
	if a, b := offers[0].GPUPrice(), offers[1].GPUPrice(); a != 0.5 || b != 1 {
		t.Errorf("got prices %v and %v, want 0.5, and 1 where none is known", a, b)
	}
	if a, b := offers[0].NodePrice(), offers[1].NodePrice(); a != 2 || b != 8 {
		t.Errorf("got nodes at %v and %v, want 2 and 8", a, b)
	}
	if diff := cmp.Diff([]Rental{{Offer: want[0]}, {Offer: want[1]}}, c.Rentals()); diff != "" {
		t.Errorf("rentals (-want +got):\n%s", diff)
	}
	if held := c.Held().Nodes(); len(held) != 1 || held[0].ID != "own" {
		t.Errorf("got %v held, want the node that is owned", held)
	}
	if c.ForRent() != c {
		t.Error("ForRent changed a cluster of which some is for rent")
	}
}

func TestForRent(t *testing.T) {
	c, err := New([]Node{node("a", "t4", 4), node("b", "t4", 2), node("c", "t4", 4)})
	if err != nil {
		t.Fatal(err)
	}
	if c.Held() != c || c.Rentals() != nil {
		t.Error("a cluster of which nothing is for rent is not all held")
	}
	all := c.ForRent()
	want := []Offer{{Group: "t4-4", Node: rented("", "t4", 4, "t4-4", 0), Most: 2}, {Group: "t4-2", Node: rented("", "t4", 2, "t4-2", 0), Most: 1}}
	if diff := cmp.Diff(want, all.Offers()); diff != "" {
		t.Errorf("offers (-want +got):\n%s", diff)
	}
	if len(all.Held().Nodes()) != 0 || len(c.Offers()) != 0 {
		t.Error("something is held, or the cluster itself was changed")
	}
}

func TestOfferFewest(t *testing.T) {
	o := Offer{Node: Node{GPUType: "t4", Capacity: Resources{GPUs: 4}}}
	for gpus, nodes := range map[int]int{1: 1, 4: 1, 5: 2, 17: 5} {
		if got, want := o.Fewest(gpus), (Configuration{Nodes: nodes, GPUs: gpus, GPUType: "t4"}); got != want {
			t.Errorf("%d GPUs: got %v, want %v", gpus, got, want)
		}
	}
}
