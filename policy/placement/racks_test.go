package placement_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
	"github.com/oxgang/oxgang/policy/placement/submesh"
)

var _ placement.Placer = (*placement.Racks)(nil)

// aisle returns a cluster of nodes of four GPUs: "a:3 b:2 -:1" is a1 to a3 in rack a, b1 and b2 in
// rack b, and one in none. Nodes of different racks take turns.
func aisle(t *testing.T, racks string) *cluster.Cluster {
	t.Helper()
	var nodes []cluster.Node
	for k := 1; k < 10; k++ {
		for f := range strings.FieldsSeq(racks) {
			if k > int(f[2]-'0') {
				continue
			}
			n := cluster.Node{ID: cluster.NodeID(fmt.Sprint(f[:1], k)), GPUType: "t4", Capacity: cluster.Resources{GPUs: 4}, Rack: f[:1]}
			if n.Rack == "-" {
				n.ID, n.Rack = cluster.NodeID(fmt.Sprint("z", k)), ""
			}
			nodes = append(nodes, n)
		}
	}
	c, err := cluster.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// parse reads a placement: "a1=4 b1=2" is four GPUs of node a1 and two of b1.
func parse(line string) (p cluster.Placement) {
	for f := range strings.FieldsSeq(line) {
		var gpus int
		if _, err := fmt.Sscan(f[3:], &gpus); err != nil {
			panic(err)
		}
		p = append(p, cluster.Share{Node: cluster.NodeID(f[:2]), Resources: cluster.Resources{GPUs: gpus}})
	}
	return p
}

// text is the inverse of parse.
func text(p cluster.Placement) string {
	var all []string
	for _, s := range p {
		all = append(all, fmt.Sprintf("%s=%d", s.Node, s.GPUs))
	}
	return strings.Join(all, " ")
}

// A row is a job: where it is, what it is granted, and where it is to be.
type row struct {
	held        string // empty: it waits
	nodes, gpus int    // granted; 0: what it holds
	want        string
	set         func(j *policy.Job, d *policy.Decision)
}

func nonPreemptive(j *policy.Job, _ *policy.Decision) { j.NonPreemptive = true }
func noCheckpoint(j *policy.Job, _ *policy.Decision)  { j.NoCheckpoint = true }
func restoring(j *policy.Job, _ *policy.Decision)     { j.Phase = job.Restoring }
func resizes(j *policy.Job, _ *policy.Decision)       { j.Resizes = true }
func reserved(_ *policy.Job, d *policy.Decision)      { d.Why.Kind = policy.Reserved }
func given(where string) func(*policy.Job, *policy.Decision) {
	return func(_ *policy.Job, d *policy.Decision) { d.Placement = parse(where) }
}

// round returns a snapshot of rows, and a plan that grants what they say.
func round(c *cluster.Cluster, rows []row) (*policy.Snapshot, *policy.Plan) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := &policy.Snapshot{Now: now, Length: time.Minute, Cluster: c}
	p := &policy.Plan{Jobs: make([]policy.Decision, len(rows))}
	for i, r := range rows {
		j := &policy.Job{Spec: &job.Spec{ID: job.ID(fmt.Sprint("job-", i)), Adaptivity: job.Adaptive}}
		j.Phase, j.Since = job.Waiting, now.Add(-time.Minute)
		if j.Placement = parse(r.held); r.held != "" {
			j.Phase, j.Allocation.Configuration = job.Running, cluster.Configuration{Nodes: len(j.Placement), GPUs: j.Placement.GPUs(), GPUType: "t4"}
		}
		if p.Jobs[i].Allocation = j.Allocation; r.gpus > 0 {
			p.Jobs[i].Allocation.Configuration = cluster.Configuration{Nodes: r.nodes, GPUs: r.gpus, GPUType: "t4"}
		}
		if r.set != nil {
			r.set(j, &p.Jobs[i])
		}
		s.Jobs = append(s.Jobs, j)
	}
	return s, p
}

func TestRacks(t *testing.T) {
	gang := gangOn("a1=4 a2=4")
	for _, test := range []struct {
		name, racks string
		rows        []row
	}{
		{"idle nodes of one rack", "a:2 b:1", []row{gang}},
		{"the rack that has enough", "a:1 b:2", []row{{nodes: 2, gpus: 8, want: "b1=4 b2=4"}}},
		{"the rack that is left with the fewest idle nodes", "a:2 b:4 c:3", []row{busy("a1=4"), busy("c1=4"), gangOn("c2=4 c3=4")}},
		{"a job that runs moves for a gang of as many GPUs", "a:2 b:2", []row{{held: "a1=4", want: "b2=4"}, {held: "b1=4", want: "b1=4"}, gang}},
		{"all that share its node move with it", "a:2 b:2", []row{{held: "a1=2", want: "b2=2"}, {held: "a1=1", want: "b2=1"}, busy("b1=4"), gang}},
		{"those with the fewest GPUs", "a:2 b:2", []row{{held: "a1=4", want: "a1=4"}, {held: "b1=1", want: "a2=1"}, gangOn("b1=4 b2=4")}},
		{"as many GPUs restart as the gang has", "a:2 b:2 c:2", []row{
			busy("a1=4"), busy("b1=4"), {held: "c1=4", want: "a2=4"}, {held: "c2=4", want: "b2=4"}, gangOn("c1=4 c2=4"),
		}},
		{"no more", "a:3 b:3 c:1", []row{
			{held: "a1=4 b1=4", want: "a1=4 b1=4"}, {held: "a2=4 b2=4", want: "a2=4 b2=4"}, {nodes: 3, gpus: 12, want: "a3=4 b3=4 c1=4"},
		}},
		{"where no rack holds it, it has what there is", "a:1 b:1", []row{gangOn("a1=4 b1=4")}},
		{"nodes of no rack are not together", "a:2 -:2", []row{{held: "a1=4", want: "z1=4"}, {held: "z2=4", want: "z2=4"}, gang}},
		{"not even those that are all in none", "a:2 -:2", []row{{held: "a1=1", want: "z1=1"}, {held: "a2=1", want: "z2=1"}, gang}},
		{"a gang that runs stays apart", "a:2 b:2", []row{{held: "a1=4 b1=4", want: "a1=4 b1=4"}, {nodes: 1, gpus: 4, want: "a2=4"}}},
		{"the larger gang first, the smaller after it", "a:3 b:2", []row{{nodes: 2, gpus: 8, want: "b1=4 b2=4"}, {nodes: 3, gpus: 12, want: "a1=4 a2=4 a3=4"}}},
		{"a larger one does not give way", "a:3 b:1 c:1", []row{{nodes: 3, gpus: 12, want: "a1=4 a2=4 a3=4"}, gangOn("b1=4 c1=4")}},
		{"a smaller gang that gives way is together again", "a:3 b:3", []row{
			{held: "a1=4 a2=4", want: "b1=4 b2=4"}, busy("b3=4"), {nodes: 3, gpus: 12, want: "a1=4 a2=4 a3=4"},
		}},
		{"the rest of a gang on a part of a node comes, too", "a:2 b:2", []row{{held: "a1=2", want: "a1=2"}, busy("b1=4"), {nodes: 2, gpus: 6, want: "a1=2 a2=4"}}},
		{"the policy's own placement", "a:2 b:2", []row{{held: "b2=4", want: "b2=4"}, {held: "a2=4", want: "a2=4"}, {nodes: 2, gpus: 8, want: "a1=4 b1=4", set: given("a1=4 b1=4")}}},
		{"non-preemptive", "a:2 b:2", blocked(nonPreemptive)},
		{"without checkpoints", "a:2 b:2", blocked(noCheckpoint)},
		{"restoring", "a:2 b:2", blocked(restoring)},
		{"reserved", "a:2 b:2", blocked(reserved)},
		{"resized while it trains", "a:3 b:3", []row{
			{held: "a1=4", nodes: 2, gpus: 8, want: "a1=4 b3=4", set: resizes},
			busy("a2=4"), busy("a3=4"),
			{held: "b1=4", want: "b1=4"},
			{held: "b2=4", want: "b2=4"},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, p := round(aisle(t, test.racks), test.rows)
			if _, err := placement.NewRacks(submesh.New(submesh.DefaultOptions())).Place(t.Context(), s, p); err != nil {
				t.Fatal(err)
			}
			for i, r := range test.rows {
				if got := text(p.Jobs[i].Placement); got != r.want {
					t.Errorf("job %d is on %q, want %q", i, got, r.want)
				}
				if got := text(s.Jobs[i].Placement); got != r.held {
					t.Errorf("job %d was on %q, and now the snapshot says %q", i, r.held, got)
				}
			}
		})
	}
}

// TestRacks_in_domains: two neighbours in a rack are an NVLink domain: a1 and a2, a3 and a4. A gang comes into one
// if one can hold it, else into one rack.
func TestRacks_in_domains(t *testing.T) {
	for _, test := range []struct {
		name, racks string
		rows        []row
	}{
		{"idle nodes of one domain", "a:4", []row{busy("a1=4"), gangOn("a3=4 a4=4")}},
		{"a job that runs moves for it, within the rack", "a:4", []row{{held: "a1=4", want: "a4=4"}, busy("a3=4"), gangOn("a1=4 a2=4")}},
		{"in another rack rather than apart", "a:3 b:3", []row{busy("a1=4"), busy("b3=4"), gangOn("b1=4 b2=4")}},
		{"no domain holds it: one rack", "a:3 b:3", []row{busy("a1=4"), {nodes: 3, gpus: 12, want: "b1=4 b2=4 b3=4"}}},
		{"one in one rack does not give way to one of its size", "a:4 b:2 c:1", []row{busy("a1=4"), busy("a4=4"), busy("b1=4"), gangOn("a2=4 a3=4"), gangOn("b2=4 c1=4")}},
		{"no domain can be had: one rack", "a:4 b:1", []row{busy("a1=4"), busy("a3=4"), gangOn("a2=4 a4=4")}},
		{"where nodes have no racks", "-:6", []row{busy("z1=4"), busy("z3=4"), gangOn("z5=4 z6=4")}},
		{"no rack can be had, either", "a:2 b:2", []row{busy("a1=4"), busy("b1=4"), gangOn("a2=4 b2=4")}},
		{"one that runs stays apart", "a:4", []row{{held: "a1=4 a3=4", want: "a1=4 a3=4"}, {nodes: 1, gpus: 4, want: "a2=4"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, p := round(paired(t, aisle(t, test.racks)), test.rows)
			if _, err := placement.NewRacks(submesh.New(submesh.DefaultOptions())).Place(t.Context(), s, p); err != nil {
				t.Fatal(err)
			}
			for i, r := range test.rows {
				if got := text(p.Jobs[i].Placement); got != r.want {
					t.Errorf("job %d is on %q, want %q", i, got, r.want)
				}
			}
		})
	}
}

// paired returns a cluster in which two neighbours of a rack are an NVLink domain.
func paired(t *testing.T, c *cluster.Cluster) *cluster.Cluster {
	t.Helper()
	nodes := slices.Clone(c.Nodes())
	for i := range nodes {
		n := &nodes[i]
		n.NVLinkDomain = fmt.Sprint(n.Rack, (n.ID[1]-'1')/2)
	}
	c, err := cluster.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// busy is a job that does not move.
func busy(where string) row { return row{held: where, want: where, set: restoring} }

func gangOn(want string) row { return row{nodes: 2, gpus: 8, want: want} }

// blocked is a gang that would be together if jobs gave way that do not.
func blocked(set func(*policy.Job, *policy.Decision)) []row {
	return []row{{held: "a1=4", want: "a1=4", set: set}, {held: "b1=4", want: "b1=4", set: set}, gangOn("a2=4 b2=4")}
}

// Nodes that differ in more than their name are not exchanged.
func TestRacks_on_nodes_of_a_kind(t *testing.T) {
	for name, other := range map[string]func(*cluster.Node){
		"a kind":     func(*cluster.Node) {},
		"CPUs":       func(n *cluster.Node) { n.Capacity.CPUs, n.Capacity.Memory = 8, 1<<30 },
		"GPU memory": func(n *cluster.Node) { n.GPUMemory = 1 << 30 },
		"group":      func(n *cluster.Node) { n.Group = "lent" },
		"tenure":     func(n *cluster.Node) { n.Tenure = cluster.Loaned },
	} {
		t.Run(name, func(t *testing.T) {
			nodes := slices.Clone(aisle(t, "a:2 b:2").Nodes())
			for i := range nodes {
				if nodes[i].ID == "a1" {
					other(&nodes[i])
				}
			}
			c, err := cluster.New(nodes)
			if err != nil {
				t.Fatal(err)
			}
			s, p := round(c, []row{{held: "a1=4"}, {held: "b1=4", set: restoring}, gangOn("")})
			if _, err := placement.NewRacks(submesh.New(submesh.DefaultOptions())).Place(t.Context(), s, p); err != nil {
				t.Fatal(err)
			}
			want := "a2=4 b2=4"
			if name == "a kind" {
				want = "a1=4 a2=4"
			}
			if got := text(p.Jobs[2].Placement); got != want {
				t.Errorf("the gang is on %s, want %s", got, want)
			}
		})
	}
}

// The error of the other placer is that of the placer.
func TestRacks_error(t *testing.T) {
	s, p := round(aisle(t, "a:1"), []row{{nodes: 1, gpus: 4, set: given("a1=4")}, {nodes: 1, gpus: 4, set: given("a1=4")}})
	if _, err := placement.NewRacks(submesh.New(submesh.DefaultOptions())).Place(t.Context(), s, p); err == nil {
		t.Error("no error, want one: a node is given twice")
	}
}
