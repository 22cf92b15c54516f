package whatif

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/simulate/sim"
)

// A job that lost its GPUs with a node lost them because of that node, which failed unless the job continued from
// its progress; other jobs failed themselves. A node that appears later counts as away until then, and nodes that
// are not owned are ignored.
func TestOutages(t *testing.T) {
	node := func(id cluster.NodeID) cluster.Node {
		return cluster.Node{ID: id, GPUType: "t4", Capacity: cluster.Resources{GPUs: 4}}
	}
	nodes := func(all ...cluster.Node) *cluster.Cluster {
		c, err := cluster.New(all)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	rented := node("r")
	rented.Group, rented.Tenure = "r", cluster.Rented
	start := nodes(node("a"), node("b"), rented)
	o := newOutages(start)
	on := func(id cluster.NodeID) *learned {
		return &learned{on: cluster.Placement{{Node: id, Resources: cluster.Resources{GPUs: 4}}}, progress: 10}
	}
	jobs := map[job.ID]*learned{"fails": on("b"), "planned": on("a"), "with b": on("b")}
	lost := func(id job.ID) scheduler.Event { return scheduler.Exited{Job: id, Outcome: scheduler.Lost} }
	goesOn := func(id job.ID, progress float64) scheduler.Event {
		return scheduler.Reported{Report: job.Report{Job: id, Progress: progress}}
	}
	for _, e := range []struct {
		minute int
		event  scheduler.Event
	}{
		{1, lost("fails")},
		{2, goesOn("fails", 9)},
		{10, lost("planned")},
		{10, scheduler.NodesChanged{Cluster: nodes(node("b"), rented)}},
		{11, goesOn("planned", 11)},
		{20, scheduler.NodesChanged{Cluster: nodes(node("a"), node("b"), node("c"))}},
		{30, lost("with b")},
		{31, scheduler.NodesChanged{Cluster: nodes(node("a"), node("c"))}},
		{32, goesOn("with b", 8)},
	} {
		o.event(time.Duration(e.minute)*time.Minute, e.event, jobs)
	}
	want := sim.Faults{
		Losses: []sim.Loss{{Job: "fails", At: time.Minute}},
		Maintenance: []sim.Window{
			{Nodes: []cluster.NodeID{"a"}, From: 10 * time.Minute, To: 20 * time.Minute},
			{Nodes: []cluster.NodeID{"c"}, From: 0, To: 20 * time.Minute, Failed: true},
			{Nodes: []cluster.NodeID{"b"}, From: 31 * time.Minute, To: endlessly, Failed: true},
		},
	}
	if diff := cmp.Diff(want, o.faults(time.Minute)); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
	all, err := o.all(start)
	if err != nil || len(all.Nodes()) != 4 {
		t.Errorf("got %d nodes, %v; want those of the header and c", len(all.Nodes()), err)
	}
}
