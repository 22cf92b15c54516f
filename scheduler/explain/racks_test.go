package explain

import (
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/journal"
)

func TestRacks(t *testing.T) {
	var nodes []cluster.Node
	for id, rack := range map[cluster.NodeID]string{"a1": "r1", "a2": "r1", "b1": "r2", "c1": "", "c2": ""} {
		nodes = append(nodes, cluster.Node{ID: id, GPUType: "t4", Capacity: cluster.Resources{GPUs: 4}, Rack: rack})
	}
	for id, domain := range map[cluster.NodeID]string{"d1": "n1", "d2": "n1", "d3": "n2"} {
		nodes = append(nodes, cluster.Node{ID: id, GPUType: "t4", Capacity: cluster.Resources{GPUs: 4}, Rack: "r3", NVLinkDomain: domain})
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
		{[]cluster.NodeID{"d1", "d2"}, ", all in NVLink domain n1"},
		{[]cluster.NodeID{"d1"}, ""},
		{[]cluster.NodeID{"d1", "d3"}, ", all in rack r3"},
		{[]cluster.NodeID{"d1", "c1"}, ", partly in rack r3"},
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
	if got := render(t, life, err); !strings.Contains(got, "started on 8 t4 GPUs on 2 nodes, 1m00s after its submission, all in rack r7: ") {
		t.Errorf("got %s, want the rack named", got)
	}
}

// A placer may move a job of which the policy says that it keeps what it has: then the page does not say
// that, but in the round of the move only.
func TestMoved_by_the_placer(t *testing.T) {
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
	r.submit(0, "k")
	a, why := cluster.Allocation{Configuration: config(1, 4, "t4")}, policy.Reason{Kind: policy.AsPlanned}
	on := func(n cluster.NodeID) cluster.Placement {
		return cluster.Placement{{Node: n, Resources: cluster.Resources{GPUs: 4}}}
	}
	jobs := []*policy.Job{{Spec: &job.Spec{ID: "j"}}, {Spec: &job.Spec{ID: "k"}}}
	round := func(n int, j, k policy.Decision, acts ...scheduler.Action) {
		s := &policy.Snapshot{Now: at(time.Duration(n) * time.Minute), Round: n, Cluster: c, Jobs: jobs}
		plan := &policy.Plan{Jobs: []policy.Decision{j, k}}
		r.w.Round(s, plan, acts)
		said := Now(s, plan).Text("j")
		if moves := n == 2; strings.Contains(said, "its move made room for other jobs; k started on 4 of its previous GPUs") != moves {
			t.Errorf("now, in round %d: %q", n, said)
		}
		jobs[0] = &policy.Job{Spec: jobs[0].Spec, Status: job.Status{Phase: job.Running, Allocation: j.Allocation, Placement: j.Placement}}
	}
	none, starts := policy.Decision{Why: policy.Reason{Kind: policy.WaitNoCapacity, Config: a.Configuration}}, policy.Reason{Kind: policy.Started}
	round(1, policy.Decision{Allocation: a, Placement: on("a"), Why: why}, none, scheduler.Run{Job: "j", Allocation: a, Placement: on("a")})
	round(2, policy.Decision{Allocation: a, Placement: on("b"), Why: why}, policy.Decision{Allocation: a, Placement: on("a"), Why: starts},
		scheduler.Run{Job: "j", Allocation: a, Placement: on("b")}, scheduler.Run{Job: "k", Allocation: a, Placement: on("a")})
	jobs[1] = &policy.Job{Spec: jobs[1].Spec, Status: job.Status{Phase: job.Running, Allocation: a, Placement: on("a")}}
	round(3, policy.Decision{Allocation: a, Placement: on("b"), Why: why}, policy.Decision{Allocation: a, Placement: on("a"), Why: why})
	text := r.text()
	life, err := Life(reader(t, text), "j")
	if got := render(t, life, err); !strings.Contains(got, "moved to another node, again with 4 t4 GPUs: its move made room") {
		t.Errorf("got %s", got)
	}
	for minutes := 1; minutes <= 3; minutes++ {
		story, err := At(reader(t, text), "j", time.Duration(minutes)*time.Minute+time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if got := story.Moment.Sentence; strings.Contains(got, "its move made room for other jobs") != (minutes > 1) {
			t.Errorf("after %d minutes: %q", minutes, got)
		}
	}
}
