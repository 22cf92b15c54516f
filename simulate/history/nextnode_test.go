package history

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/metrics"
)

func TestCompared(t *testing.T) {
	done := func(id job.ID, jct, queued float64) metrics.JobResult {
		return metrics.JobResult{ID: id, Outcome: metrics.Done, JCT: jct, Queued: queued}
	}
	base := &metrics.Result{Jobs: []metrics.JobResult{done("a", 7200, 3600), done("b", 100, 0), {ID: "c", Outcome: metrics.Active, JCT: 9e9}}}
	base.Summary.Makespan = 7200
	with := &metrics.Result{Jobs: []metrics.JobResult{done("a", 3600, 1800), done("b", 200, 0), done("c", 1, 0)}}
	specs := map[job.ID]*job.Spec{"a": {GPUs: 4, User: "ann"}, "b": {GPUs: 2, User: "bob"}, "c": {GPUs: 8, User: "bob"}}
	got := compared(base, with, func(id job.ID) *job.Spec { return specs[id] })
	if want := (Saving{Jobs: 2, JCT: (3600 - 100) / 2., Waiting: 2, Sooner: (4*3600 - 2*100) / 7200.}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	all := teams(base, with, specs)
	if len(all) != 2 || all[0].User != "ann" || all[0].JCT != 3600 || all[1].Jobs != 1 || all[1].JCT != -100 {
		t.Errorf("teams %+v", all)
	}
}

// The interval of two values is that of a table: their mean, more or less t(1) times s times the root of 1.5.
func TestBounds(t *testing.T) {
	low, high := bounds([]Saving{{JCT: 10, Waiting: 3}, {JCT: 14, Waiting: 3}})
	wide := 6.314 * math.Sqrt(8) * math.Sqrt(1.5)
	if math.Abs(low.JCT-(12-wide)) > 1e-9 || math.Abs(high.JCT-(12+wide)) > 1e-9 || low.Waiting != 3 || high.Waiting != 3 {
		t.Errorf("got %+v and %+v, want 12 more or less %v", low, high, wide)
	}
	if low, high := bounds([]Saving{{}}); low != nil || high != nil {
		t.Error("an interval of one value")
	}
}

// Only owned nodes are bought: those of a type are copied once, and other types not at all.
func TestGrown(t *testing.T) {
	node := func(id cluster.NodeID, kind cluster.GPUType, gpus int, of cluster.Tenure) cluster.Node {
		return cluster.Node{ID: id, GPUType: kind, Tenure: of, Capacity: cluster.Resources{GPUs: gpus}}
	}
	c, err := cluster.New([]cluster.Node{node("a", "t4", 4, cluster.Loaned), node("b", "t4", 8, cluster.Owned), node("c", "t4", 2, cluster.Owned), node("d", "v100", 8, cluster.Rented)})
	if err != nil {
		t.Fatal(err)
	}
	on := grown(c)
	if len(on) != 2 || on[0].nodes != c || on[1].node.Capacity.GPUs != 8 || on[1].nodes.GPUs() != c.GPUs()+8 || len(c.Nodes()) != 4 {
		t.Errorf("got %+v, want the cluster, and it with one more node like b", on)
	}
}

func TestNextNodes_says_what_fails(t *testing.T) {
	c, err := cluster.New([]cluster.Node{{ID: "a", GPUType: "t4", Capacity: cluster.Resources{GPUs: 4}}})
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	run := func(context.Context, *cluster.Cluster, int, scheduler.Observer) (*metrics.Result, error) {
		return nil, broken
	}
	if _, err := NextNodes(t.Context(), c, 1, 1, run); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	for _, orders := range []int{0, MostOrders + 1} {
		if _, err := NextNodes(t.Context(), c, orders, 1, run); err == nil || errors.Is(err, broken) {
			t.Errorf("%d orders: %v", orders, err)
		}
	}
}
