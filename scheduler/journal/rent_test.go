package journal_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/scheduler/schedulertest"
)

// forRent has two kinds of nodes that can be rented, two of each, and none else.
func forRent(t testing.TB) *cluster.Cluster {
	t.Helper()
	var nodes []cluster.Node
	for i := range 4 {
		n := cluster.Node{
			ID: cluster.NodeID(fmt.Sprintf("r%d", i)), GPUType: "t4", Capacity: cluster.Resources{GPUs: 2 + 2*(i/2)},
			Tenure: cluster.Rented, Group: cluster.Group(fmt.Sprintf("g%d", i/2)), Price: 0.5,
		}
		if i < 2 {
			n.Interruptions = 0.25
		}
		nodes = append(nodes, n)
	}
	c, err := cluster.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// letting returns the journal of a world that lets nodes, and of nothing else.
func letting(t testing.TB) string {
	t.Helper()
	w := world().(*schedulertest.Toy)
	w.Let(forRent(t))
	text, err := recordOn(t, forRent(t), w, schedulertest.DriveRenting)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestReplay_of_rented_nodes_gives_the_same_journal_byte_for_byte(t *testing.T) {
	first := letting(t)
	for _, part := range []string{`"interruptions":0.25`, `{"provision":"g0","nodes":`, `{"return":["r`, `"rentals":[{"node":{"id":"",`} {
		if !strings.Contains(first, part) {
			t.Errorf("the journal has no %s", part)
		}
	}
	replaysAlike(t, forRent(t), first, schedulertest.DriveRenting)
}

func TestReplay_of_rented_nodes_keeps_the_contract(t *testing.T) {
	text := letting(t)
	schedulertest.RunRenting(t, func(t testing.TB) scheduler.Backend { return replay(t, text) }, forRent(t), schedulertest.DriveRenting(forRent(t)))
}

// Of a policy that rents nothing, the first difference is the group it does not rent.
// In shadow only jobs are compared.
func TestReplay_of_rented_nodes_by_another_policy(t *testing.T) {
	text := letting(t)
	_, err := recordOn(t, forRent(t), replay(t, text), schedulertest.Drive)
	if err == nil || !strings.Contains(err.Error(), `group g0: got no action, want {"provision":"g0","nodes":2} as recorded`) {
		t.Errorf("got %v", err)
	}
	b := replay(t, text)
	b.Shadow = true
	if _, err := recordOn(t, forRent(t), b, schedulertest.Drive); err != nil || b.Comparison().Differing != 0 {
		t.Errorf("in shadow got %v and %+v, want no difference", err, b.Comparison())
	}
}

// Each group and what is given back are compared for themselves.
func TestReplay_compares_each_group(t *testing.T) {
	const recorded = `{"provision":"g0","nodes":1},{"provision":"g1","nodes":2},{"return":["r0"]}`
	header, _, _ := strings.Cut(journal.Unsealed(letting(t)), "\n")
	_, nodes, _ := strings.Cut(header, `"nodes":`)
	text := header + "\n" + `{"t":60,"nodes":` + nodes + "\n" + `{"t":60,"round":{"n":1,"do":[` + recorded + `]}}` + "\n"
	b := replay(t, text)
	deadline := schedulertest.Epoch.Add(time.Minute)
	for range 2 {
		if _, err := b.Next(t.Context(), deadline); err != nil {
			t.Fatal(err)
		}
	}
	err := b.Do(t.Context(), []scheduler.Action{
		scheduler.Provision{Group: "g1", Nodes: 2}, scheduler.Provision{Group: "g0", Nodes: 1}, scheduler.Return{Nodes: []cluster.NodeID{"r1"}},
	})
	want := `round 1 at 1m0s: nodes given back: got {"return":["r1"]}, want {"return":["r0"]} as recorded`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestRentals_survive(t *testing.T) {
	c := forRent(t)
	var out strings.Builder
	w := journal.NewWriter(&out, journal.Header{Start: schedulertest.Epoch, Round: time.Minute, Cluster: c})
	want := scheduler.NodesChanged{Cluster: c.Held()}
	for i, offer := range c.Offers() {
		want.Rentals = append(want.Rentals, cluster.Rental{Offer: offer, Ready: i, Starting: 1 - i, Leaving: i + 2, Refused: i == 1})
	}
	w.Event(schedulertest.Epoch, want)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := journal.NewReader(strings.NewReader(out.String()))
	if err != nil {
		t.Fatal(err)
	}
	rec, err := r.Read()
	if err != nil {
		t.Fatal(err)
	}
	got := rec.Event.(scheduler.NodesChanged)
	if diff := cmp.Diff(want.Rentals, got.Rentals); diff != "" || len(got.Cluster.Nodes()) != 0 {
		t.Errorf("rentals (-want +got), with nodes %v:\n%s", got.Cluster.Nodes(), diff)
	}
	if diff := cmp.Diff(c.Nodes(), r.Header().Cluster.Nodes()); diff != "" {
		t.Errorf("nodes of the header (-want +got):\n%s", diff)
	}
}

// How many nodes are wanted is written where it changes, and known in every round.
func TestCapacity_survives(t *testing.T) {
	var out strings.Builder
	w := journal.NewWriter(&out, journal.Header{Start: schedulertest.Epoch, Round: time.Minute, Cluster: forRent(t)})
	want := []map[cluster.Group]int{nil, {"g1": 2, "g0": 1}, {"g0": 1, "g1": 2}, {"g0": 0}, nil, nil}
	for i, capacity := range want {
		w.Round(&policy.Snapshot{Now: schedulertest.Epoch, Round: i}, &policy.Plan{Capacity: capacity}, nil)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), `"capacity":`); n != 3 || !strings.Contains(out.String(), `"capacity":[["g0",1],["g1",2]]`) {
		t.Errorf("%d rounds say what is wanted, want 3, by group:\n%s", n, out.String())
	}
	r, err := journal.NewReader(strings.NewReader(out.String()))
	if err != nil {
		t.Fatal(err)
	}
	for i, capacity := range want {
		rec, err := r.Read()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(capacity, rec.Round.Capacity); diff != "" {
			t.Errorf("round %d (-want +got):\n%s", i, diff)
		}
	}
}
