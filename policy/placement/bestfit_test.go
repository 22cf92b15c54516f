package placement_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
	"github.com/oxgang/oxgang/policy/policytest"
	"github.com/oxgang/oxgang/policy/queue"
)

// servers returns a cluster of nodes of eight GPUs.
func servers(t testing.TB, n int) *cluster.Cluster {
	t.Helper()
	var nodes []cluster.Node
	for i := range n {
		nodes = append(nodes, cluster.Node{ID: cluster.NodeID(fmt.Sprint("n", i)), GPUType: "v100", Capacity: cluster.Resources{GPUs: 8}})
	}
	c, err := cluster.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// gpus says what a placement holds: "n0:4 n1:4".
func gpus(p cluster.Placement) string {
	var all []string
	for _, s := range p {
		all = append(all, fmt.Sprintf("%s:%d", s.Node, s.GPUs))
	}
	return strings.Join(all, " ")
}

// Lyra §5.3: a worker goes to the non-empty server that best fits it, or to a new one.
func TestRoom_Place(t *testing.T) {
	v := func(n, unit int) placement.Want { return placement.Want{Type: "v100", GPUs: n, Unit: unit} }
	last := func(n, unit int) placement.Want {
		w := v(n, unit)
		w.Rank = func(node int) int { return 2 - node }
		return w
	}
	never := v(1, 1)
	never.Rank = func(int) int { return -1 }
	for _, test := range []struct {
		name  string
		wants []placement.Want
		want  string // the last of them
	}{
		{"the fullest that has room", []placement.Want{v(2, 2), v(8, 8), v(3, 3), v(6, 6), v(2, 2)}, "n2:2"},
		{"a new one if none has", []placement.Want{v(6, 6), v(4, 4)}, "n1:4"},
		{"workers together where a server holds them", []placement.Want{v(5, 5), v(4, 1)}, "n1:4"},
		{"else on few, the fullest first", []placement.Want{v(5, 5), v(6, 6), v(7, 7), v(4, 1)}, "n0:3 n2:1"},
		{"whole workers", []placement.Want{v(5, 5), v(6, 6), v(5, 5), v(6, 2)}, "n0:2 n1:2 n2:2"},
		{"no part of one", []placement.Want{v(5, 5), v(5, 5), v(5, 5), v(4, 4)}, "none"},
		{"a worker of more than a server on whole ones", []placement.Want{v(1, 1), v(16, 16)}, "n1:8 n2:8"},
		{"the best ranked", []placement.Want{v(1, 1), last(1, 1)}, "n2:1"},
		{"but those that hold all first", []placement.Want{v(8, 8), v(2, 2), last(8, 2)}, "n2:8"},
		{"none that must not be used", []placement.Want{never}, "none"},
		{"of another type none", []placement.Want{{Type: "t4", GPUs: 1, Unit: 1}}, "none"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := placement.NewRoom(servers(t, 3))
			got := ""
			for _, w := range test.wants {
				before := r.Free(0) + r.Free(1) + r.Free(2)
				p, ok := r.Place(w)
				if got = gpus(p); !ok {
					got = "none"
				}
				if after := r.Free(0) + r.Free(1) + r.Free(2); before-after != p.GPUs() {
					t.Errorf("%d GPUs taken, placed %d", before-after, p.GPUs())
				}
			}
			if got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestRoom(t *testing.T) {
	r := placement.NewRoom(servers(t, 1))
	p := cluster.Placement{{Node: "n0", Resources: cluster.Resources{GPUs: 5}}}
	gone := cluster.Placement{{Node: "n9", Resources: cluster.Resources{GPUs: 1}}}
	if !r.Holds(p) || r.Holds(gone) {
		t.Errorf("holds %v and %v, want true and false", r.Holds(p), r.Holds(gone))
	}
	r.Take(p)
	if r.Free(0) != 3 || r.Holds(p) {
		t.Errorf("%d free, want 3, and no room for as much again", r.Free(0))
	}
	r.Give(p)
	if r.Close(0); r.Free(0) != 0 {
		t.Errorf("%d free, want none: closed", r.Free(0))
	}
}

// TestBestFit_property: placed plans keep the rules; who has what it had stays where it is; and
// nobody waits for whom one node has room.
func TestBestFit_property(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := policytest.NewWorld(t)
		p := queue.New(rapid.SampledFrom([]queue.Options{queue.FIFO(), queue.SRTF()}).Draw(t, "order"))
		for range 4 {
			s := w.Snapshot()
			plan, err := p.Plan(context.Background(), s)
			if err != nil {
				t.Fatal(err)
			}
			policy.FillProportional(s, plan)
			asked := append([]policy.Decision(nil), plan.Jobs...)
			if plan, err = placement.NewBestFit().Place(context.Background(), s, plan); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(policy.Check(s, plan), policy.CheckPlacement(s, plan)); err != nil {
				t.Fatal(err)
			}
			for i, j := range s.Jobs {
				if err := settled(s, plan, j, &asked[i], &plan.Jobs[i]); err != nil {
					t.Fatalf("job %s: %v", j.ID, err)
				}
			}
			w.Advance(t, plan)
		}
	})
}

// settled returns what is wrong with where a job is.
func settled(s *policy.Snapshot, p *policy.Plan, j *policy.Job, asked, got *policy.Decision) error {
	switch {
	case asked.Allocation.IsZero():
		return nil
	case asked.Allocation == j.Allocation && !got.Placement.Equal(j.Placement):
		return fmt.Errorf("is on %v, want to stay on %v", got.Placement, j.Placement)
	case !got.Allocation.IsZero():
		return nil
	case got.Why.Kind != policy.Evicted:
		return fmt.Errorf("waits because %v, want %v", got.Why.Kind, policy.Evicted)
	}
	room := placement.NewRoom(s.Cluster)
	for i := range p.Jobs {
		room.Take(p.Jobs[i].Placement)
	}
	info, _ := s.Cluster.Type(asked.Allocation.GPUType)
	for n, node := range s.Cluster.Nodes() {
		if node.GPUType == asked.Allocation.GPUType && room.Free(n) >= asked.Allocation.GPUs && !info.Counts() {
			return fmt.Errorf("waits for %v, want it on %s", asked.Allocation, node.ID)
		}
	}
	return nil
}

// A job with workers is placed by workers.
func TestBestFit_workers(t *testing.T) {
	c := servers(t, 2)
	s := &policy.Snapshot{Cluster: c, Length: 1}
	p := new(policy.Plan)
	for _, j := range []struct {
		gpus, worker int
	}{{6, 0}, {4, 2}, {6, 2}} {
		s.Jobs = append(s.Jobs, &policy.Job{Spec: &job.Spec{ID: job.ID(fmt.Sprint(j.gpus, j.worker)), GPUs: j.gpus, WorkerGPUs: j.worker}})
		p.Jobs = append(p.Jobs, policy.Decision{Allocation: cluster.Allocation{Configuration: cluster.Configuration{Nodes: 1, GPUs: j.gpus, GPUType: "v100"}}})
	}
	if _, err := placement.NewBestFit().Place(t.Context(), s, p); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"n0:6", "n1:4", "n0:2 n1:4"} {
		if got := gpus(p.Jobs[i].Placement); got != want || p.Jobs[i].Allocation.Nodes != len(p.Jobs[i].Placement) {
			t.Errorf("job %d: got %s on %d nodes, want %s", i, got, p.Jobs[i].Allocation.Nodes, want)
		}
	}
}

// A job whose place the policy gave to another is placed anew, and not on top of it.
func TestBestFit_where_the_policy_gave_a_place_away(t *testing.T) {
	c := servers(t, 2)
	four := cluster.Allocation{Configuration: cluster.Configuration{Nodes: 1, GPUs: 4, GPUType: "v100"}}
	on := func(n cluster.NodeID, gpus int) cluster.Placement {
		return cluster.Placement{{Node: n, Resources: cluster.Resources{GPUs: gpus}}}
	}
	held := &policy.Job{Spec: &job.Spec{ID: "held", GPUs: 4}}
	held.Allocation, held.Placement = four, on("n0", 4)
	s := &policy.Snapshot{Cluster: c, Jobs: []*policy.Job{held, {Spec: &job.Spec{ID: "placed", GPUs: 8}}}}
	p := &policy.Plan{Jobs: []policy.Decision{{Allocation: four}, {
		Allocation: cluster.Allocation{Configuration: cluster.Configuration{Nodes: 1, GPUs: 8, GPUType: "v100"}}, Placement: on("n0", 8),
	}}}
	if _, err := placement.NewBestFit().Place(t.Context(), s, p); err != nil {
		t.Fatal(err)
	}
	if got := gpus(p.Jobs[0].Placement) + ", " + gpus(p.Jobs[1].Placement); got != "n1:4, n0:8" {
		t.Errorf("placed on %s, want n1:4, n0:8", got)
	}
}
