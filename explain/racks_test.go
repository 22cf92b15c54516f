package explain

import (
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/journal"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

func TestRacks(t *testing.T) {
	var nodes []cluster.Node
	for id, rack := range map[cluster.NodeID]string{"a1": "r1", "a2": "r1", "b1": "r2", "c1": "", "c2": ""} {
		nodes = append(nodes, cluster.Node{ID: id, GPUType: "t4", Capacity: cluster.Resources{GPUs: 4}, Rack: rack})
	}
	c, err := cluster.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	w := &clusterState{cluster: c}
	for _, test := range []struct {
		on   []cluster.NodeID
		want string
	}{
		{[]cluster.NodeID{"a1", "a2"}, ", all in rack r1"},
		{[]cluster.NodeID{"a1", "a2", "b1"}, ", in racks r1 and r2"},
		{[]cluster.NodeID{"a1", "c1"}, ", partly in rack r1"},
		{[]cluster.NodeID{"a1", "gone"}, ", partly in rack r1"},
		{[]cluster.NodeID{"a1"}, ""},
		{[]cluster.NodeID{"c1", "c2"}, ""},
		{nil, ""},
	} {
		var p cluster.Placement
		for _, n := range test.on {
			p = append(p, cluster.Share{Node: n, Resources: cluster.Resources{GPUs: 4}})
		}
		if got := w.racks(p); got != test.want {
			t.Errorf("on %v: got %q, want %q", test.on, got, test.want)
		}
	}
}

// The life of a job on several nodes says in which racks they are.
func TestLife_names_racks(t *testing.T) {
	node := func(id cluster.NodeID) cluster.Node {
		return cluster.Node{ID: id, GPUType: "t4", Capacity: cluster.Resources{GPUs: 4}, Rack: "r7"}
	}
	c, err := cluster.New([]cluster.Node{node("a"), node("b")})
	if err != nil {
		t.Fatal(err)
	}
	r := &run{t: t}
	r.w = journal.NewWriter(&r.b, journal.Header{Policy: "oxgang", Start: start, Round: time.Minute, Cluster: c})
	r.submit(0, "j")
	a := cluster.Allocation{Configuration: config(2, 8, "t4")}
	four := cluster.Resources{GPUs: 4}
	on := cluster.Placement{{Node: "a", Resources: four}, {Node: "b", Resources: four}}
	s := &policy.Snapshot{Now: at(time.Minute), Round: 1, Jobs: []*policy.Job{{Spec: &job.Spec{ID: "j"}}}}
	r.w.Round(s, &policy.Plan{Jobs: []policy.Decision{{Allocation: a, Placement: on}}}, []scheduler.Action{scheduler.Run{Job: "j", Allocation: a, Placement: on}})
	life, err := Life(reader(t, r.text()), "j")
	if got := render(t, life, err); !strings.Contains(got, "started on 8 t4 GPUs on 2 nodes after 1m00s, all in rack r7: ") {
		t.Errorf("got %s, want the rack named", got)
	}
}
