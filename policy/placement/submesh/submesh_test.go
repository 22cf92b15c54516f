package submesh_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
	"github.com/oxgang/oxgang/policy/placement/submesh"
)

var _ placement.Placer = (*submesh.Placer)(nil)

// nodes returns a cluster of t4 nodes a, b, c, ... with so many GPUs each.
func nodes(t testing.TB, gpus ...int) *cluster.Cluster {
	t.Helper()
	var all []cluster.Node
	for i, g := range gpus {
		id := cluster.NodeID(fmt.Sprintf("%c", 'a'+i))
		if len(gpus) > 26 {
			id = cluster.NodeID(fmt.Sprintf("node-%03d", i))
		}
		all = append(all, cluster.Node{ID: id, GPUType: "t4", Capacity: cluster.Resources{GPUs: g}})
	}
	c, err := cluster.New(all)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// parse reads a placement: "a4 b2" is four GPUs of node a and two of b.
func parse(line string) cluster.Placement {
	var p cluster.Placement
	for f := range strings.FieldsSeq(line) {
		var gpus int
		if _, err := fmt.Sscan(f[1:], &gpus); err != nil {
			panic(err)
		}
		p = append(p, cluster.Share{Node: cluster.NodeID(f[:1]), Resources: cluster.Resources{GPUs: gpus}})
	}
	return p
}

// text is the inverse of parse.
func text(p cluster.Placement) string {
	var fields []string
	for _, s := range p {
		fields = append(fields, fmt.Sprintf("%s%d", s.Node, s.GPUs))
	}
	return strings.Join(fields, " ")
}

// A row is one job of a test round.
type row struct {
	held  string // where it is; empty: it waits
	nodes int    // granted
	gpus  int
	want  string // where it is to be; empty: evicted, or nothing granted
	set   func(j *policy.Job, d *policy.Decision)
}

func config(nodes, gpus int) cluster.Configuration {
	return cluster.Configuration{Nodes: nodes, GPUs: gpus, GPUType: "t4"}
}

func nonPreemptive(j *policy.Job, _ *policy.Decision) { j.NonPreemptive = true }
func workers(gpus int) func(*policy.Job, *policy.Decision) {
	return func(j *policy.Job, _ *policy.Decision) { j.WorkerGPUs = gpus }
}
func restoring(j *policy.Job, _ *policy.Decision) { j.Phase = job.Restoring }
func resizes(j *policy.Job, _ *policy.Decision)   { j.Resizes = true }

// unsaved is a job that has no checkpoints and holds its GPUs for so long.
func unsaved(since time.Duration) func(*policy.Job, *policy.Decision) {
	return func(j *policy.Job, _ *policy.Decision) { j.NoCheckpoint, j.Since = true, now.Add(-since) }
}

// now is when test rounds are.
var now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func round(c *cluster.Cluster, rows []row) (*policy.Snapshot, *policy.Plan) {
	s, p := &policy.Snapshot{Now: now, Cluster: c}, &policy.Plan{}
	for i, r := range rows {
		j := &policy.Job{Spec: &job.Spec{ID: job.ID(fmt.Sprintf("j%d", i)), Adaptivity: job.Adaptive}}
		j.Phase = job.Waiting
		if held := parse(r.held); held != nil {
			j.Phase, j.Placement = job.Running, held
			j.Allocation.Configuration = config(len(held), held.GPUs())
		}
		var d policy.Decision
		if r.gpus > 0 {
			d.Allocation.Configuration = config(r.nodes, r.gpus)
		}
		if r.set != nil {
			r.set(j, &d)
		}
		s.Jobs, p.Jobs = append(s.Jobs, j), append(p.Jobs, d)
	}
	return s, p
}

func TestPlace(t *testing.T) {
	tests := []struct {
		name  string
		nodes []int
		o     submesh.Options
		rows  []row
	}{
		{name: "best fit prefers nodes in use", nodes: []int{4, 4, 4}, rows: []row{
			{held: "b2", nodes: 1, gpus: 2, want: "b2"},
			{held: "c1", nodes: 1, gpus: 1, want: "c1"},
			{nodes: 1, gpus: 2, want: "b2"},
			{nodes: 1, gpus: 1, want: "c1"},
		}},
		{name: "large before small", nodes: []int{4, 4}, rows: []row{
			{nodes: 1, gpus: 1, want: "b1"},
			{nodes: 1, gpus: 4, want: "a4"},
		}},
		{name: "whole nodes", nodes: []int{4, 4, 4}, rows: []row{
			{held: "a1", nodes: 1, gpus: 1, want: "a1"},
			{nodes: 2, gpus: 8, want: "b4 c4"},
		}},
		{name: "fragmented: the fewest moves make a whole node", nodes: []int{4, 4}, rows: []row{
			{held: "a1", nodes: 1, gpus: 1, want: "a1"},
			{held: "a1", nodes: 1, gpus: 1, want: "a1"},
			{held: "b2", nodes: 1, gpus: 2, want: "a2"},
			{nodes: 1, gpus: 4, want: "b4"},
		}},
		{name: "fragmented: a partial node", nodes: []int{4, 4}, rows: []row{
			{held: "a2", nodes: 1, gpus: 2, want: "a2"},
			{held: "a1", nodes: 1, gpus: 1, want: "b1"},
			{held: "b2", nodes: 1, gpus: 2, want: "b2"},
			{held: "b1", nodes: 1, gpus: 1, want: "b1"},
			{nodes: 1, gpus: 2, want: "a2"},
		}},
		{name: "a restoring job is moved last", nodes: []int{4, 4}, rows: []row{
			{held: "a1", nodes: 1, gpus: 1, want: "a1", set: restoring},
			{held: "b1", nodes: 1, gpus: 1, want: "a1"},
			{held: "b1", nodes: 1, gpus: 1, want: "a1"},
			{nodes: 1, gpus: 4, want: "b4"},
		}},
		{name: "a restoring job is moved if nothing else helps", nodes: []int{4, 4}, rows: []row{
			{held: "a1", nodes: 1, gpus: 1, want: "b1", set: restoring},
			{held: "b1", nodes: 1, gpus: 1, want: "b1", set: nonPreemptive},
			{nodes: 1, gpus: 4, want: "a4"},
		}},
		{name: "a non-preemptive job is never moved", nodes: []int{4, 4}, rows: []row{
			{held: "a1", nodes: 1, gpus: 1, want: "a1", set: nonPreemptive},
			{held: "b1", nodes: 1, gpus: 1, want: "b1", set: nonPreemptive},
			{nodes: 1, gpus: 4},
		}},
		{name: "a job that would lose much work is never moved", nodes: []int{4, 4}, rows: []row{
			{held: "a1", nodes: 1, gpus: 1, want: "a1", set: unsaved(16 * time.Minute)},
			{held: "b1", nodes: 1, gpus: 1, want: "b1", set: unsaved(time.Hour)},
			{nodes: 1, gpus: 4},
		}},
		{name: "what a job that was resized loses began with its service", nodes: []int{4, 4}, rows: []row{
			{held: "a1", nodes: 1, gpus: 1, want: "a1", set: func(j *policy.Job, d *policy.Decision) {
				unsaved(time.Minute)(j, d)
				j.Resizes, j.Service = true, time.Hour
			}},
			{held: "b1", nodes: 1, gpus: 1, want: "b1", set: nonPreemptive},
			{nodes: 1, gpus: 4},
		}},
		{name: "of jobs that would lose little work, those that lose least are moved", nodes: []int{4, 4}, rows: []row{
			{held: "a1", nodes: 1, gpus: 1, want: "a1", set: unsaved(14 * time.Minute)},
			{held: "b1", nodes: 1, gpus: 1, want: "a1", set: unsaved(3 * time.Minute)},
			{held: "b1", nodes: 1, gpus: 1, want: "a1", set: unsaved(4 * time.Minute)},
			{nodes: 1, gpus: 4, want: "b4"},
		}},
		{name: "a job that is resized keeps its place", nodes: []int{4, 4, 4}, rows: []row{
			{held: "a2", nodes: 1, gpus: 4, want: "a2 b2", set: resizes},
			{held: "b2", nodes: 1, gpus: 2, want: "b2"},
			{held: "a2", nodes: 1, gpus: 2, want: "a2"},
			{nodes: 1, gpus: 4, want: "c4"},
		}},
		{name: "a job that gives GPUs back keeps those of the node where it has most", nodes: []int{4, 4, 4}, rows: []row{
			{held: "a1 b3", nodes: 1, gpus: 2, want: "b2", set: resizes},
			{nodes: 1, gpus: 4, want: "a4"},
		}},
		{name: "a job that is resized keeps whole workers", nodes: []int{4, 4}, rows: []row{
			{held: "a2 b2", nodes: 1, gpus: 2, want: "a2", set: func(j *policy.Job, d *policy.Decision) { resizes(j, d); j.WorkerGPUs = 2 }},
		}},
		{name: "a job of which a worker is cut is placed anew", nodes: []int{4, 4}, o: submesh.DefaultOptions(), rows: []row{
			{held: "a1 b1", nodes: 1, gpus: 2, want: "a2", set: func(j *policy.Job, d *policy.Decision) { resizes(j, d); j.WorkerGPUs = 2 }},
		}},
		{name: "a job that is resized while it restores is placed anew", nodes: []int{4, 4}, rows: []row{
			{held: "a2", nodes: 1, gpus: 4, want: "b4", set: func(j *policy.Job, d *policy.Decision) { resizes(j, d); restoring(j, d) }},
			{held: "a2", nodes: 1, gpus: 2, want: "a2"},
		}},
		{name: "GPUs that a job gives back are there for others", nodes: []int{4}, rows: []row{
			{held: "a4"},
			{nodes: 1, gpus: 4, want: "a4"},
		}},
		{name: "virtual nodes: six GPUs are four and two", nodes: []int{6, 6}, rows: []row{
			{nodes: 1, gpus: 4, want: "a4"},
			{nodes: 1, gpus: 4, want: "b4"},
			{nodes: 1, gpus: 2, want: "a2"},
			{nodes: 1, gpus: 1, want: "b1"},
			{nodes: 1, gpus: 1, want: "b1"},
		}},
		{name: "virtual nodes: whole nodes of six", nodes: []int{6, 6, 6}, rows: []row{
			{held: "a1", nodes: 1, gpus: 1, want: "a1"},
			{nodes: 2, gpus: 12, want: "b6 c6"},
			{nodes: 1, gpus: 4, want: "a4"},
		}},
		{name: "nodes of different sizes", nodes: []int{8, 4, 4}, rows: []row{
			{nodes: 2, gpus: 8, want: "b4 c4"},
			{nodes: 1, gpus: 8, want: "a8"},
		}},
		{name: "whole nodes of different sizes", nodes: []int{4, 8, 4}, rows: []row{
			{nodes: 2, gpus: 12, want: "a4 b8"},
			{nodes: 1, gpus: 4, want: "c4"},
		}},
		{name: "nodes in use before those that an autoscaler may take", nodes: []int{4, 4, 4, 4}, rows: []row{
			{held: "b2", nodes: 1, gpus: 2, want: "b2"},
			{held: "d1", nodes: 1, gpus: 1, want: "d1"},
			{nodes: 1, gpus: 2, want: "b2"},
			{nodes: 1, gpus: 1, want: "d1"},
			{nodes: 1, gpus: 1, want: "d1"},
		}},
		{name: "a small node before an idle large one", nodes: []int{8, 4}, rows: []row{
			{nodes: 1, gpus: 2, want: "b2"},
		}},
		{name: "six GPUs: a whole node, the rest on one", nodes: []int{4, 4, 4}, o: submesh.DefaultOptions(), rows: []row{
			{held: "a2", nodes: 1, gpus: 2, want: "a2"},
			{nodes: 2, gpus: 6, want: "a2 b4"},
		}},
		{name: "ten GPUs: the rest is scattered if it must", nodes: []int{4, 4, 4, 4}, o: submesh.DefaultOptions(), rows: []row{
			{held: "c3", nodes: 1, gpus: 3, want: "c3", set: nonPreemptive},
			{held: "d3", nodes: 1, gpus: 3, want: "d3", set: nonPreemptive},
			{nodes: 3, gpus: 10, want: "a4 b4 c1 d1"},
		}},
		{name: "three GPUs are scattered if they must", nodes: []int{4, 4, 4}, o: submesh.DefaultOptions(), rows: []row{
			{nodes: 1, gpus: 3, want: "a3"},
			{nodes: 1, gpus: 3, want: "b3"},
			{nodes: 1, gpus: 3, want: "c3"},
			{nodes: 1, gpus: 3, want: "a1 b1 c1"},
		}},
		{name: "workers are not split", nodes: []int{4, 4}, o: submesh.DefaultOptions(), rows: []row{
			{held: "a2", nodes: 1, gpus: 2, want: "a2", set: nonPreemptive},
			{held: "b2", nodes: 1, gpus: 2, want: "b2", set: nonPreemptive},
			{nodes: 1, gpus: 3, set: workers(3)},
			{nodes: 1, gpus: 3, want: "a2 b1"},
		}},
		{name: "whole nodes that would split workers are not taken", nodes: []int{6, 6, 8}, o: submesh.DefaultOptions(), rows: []row{
			{nodes: 2, gpus: 12, want: "a4 c8", set: workers(4)},
		}},
		{name: "whole nodes and a rest that would split workers are not taken", nodes: []int{8, 8}, rows: []row{
			{nodes: 2, gpus: 12, want: "a6 b6", set: workers(6)},
		}},
		{name: "three GPUs are not scattered without Split", nodes: []int{4, 4}, rows: []row{
			{nodes: 1, gpus: 3, want: "a3"},
			{nodes: 1, gpus: 2},
			{nodes: 1, gpus: 3, want: "b3"},
		}},
		{name: "three GPUs make way for two and are scattered", nodes: []int{4, 4}, o: submesh.DefaultOptions(), rows: []row{
			{held: "a3", nodes: 1, gpus: 3, want: "a2 b1"},
			{held: "b3", nodes: 1, gpus: 3, want: "b3"},
			{nodes: 1, gpus: 2, want: "a2"},
		}},
		{name: "sixteen GPUs: nobody makes way for what can be scattered", nodes: []int{6, 6, 6, 6}, o: submesh.DefaultOptions(), rows: []row{
			{held: "a4", nodes: 1, gpus: 4, want: "a4"},
			{held: "b2", nodes: 1, gpus: 2, want: "b2"},
			{held: "b2", nodes: 1, gpus: 2, want: "b2"},
			{nodes: 3, gpus: 16, want: "a2 b2 c6 d6"},
		}},
		{name: "a scattered job stays", nodes: []int{4, 4}, o: submesh.DefaultOptions(), rows: []row{
			{held: "a1 b2", nodes: 2, gpus: 3, want: "a1 b2"},
			{nodes: 1, gpus: 2, want: "b2"},
		}},
		{name: "a given placement comes first", nodes: []int{4, 4}, rows: []row{
			{held: "a1", nodes: 1, gpus: 1, want: "b1"},
			{nodes: 1, gpus: 4, want: "a4", set: func(_ *policy.Job, d *policy.Decision) { d.Placement = parse("a4") }},
		}},
		{name: "a job whose node is gone is placed again", nodes: []int{4}, rows: []row{
			{held: "z2", nodes: 1, gpus: 2, want: "a2"},
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, p := round(nodes(t, test.nodes...), test.rows)
			if _, err := submesh.New(test.o).Place(t.Context(), s, p); err != nil {
				t.Fatal(err)
			}
			var got, want []string
			for i, r := range test.rows {
				got, want = append(got, text(p.Jobs[i].Placement)), append(want, r.want)
				if evicted := p.Jobs[i].Why.Kind == policy.Evicted; evicted != (r.gpus > 0 && r.want == "") {
					t.Errorf("job %d: evicted %v", i, evicted)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("placements (-want +got):\n%s", diff)
			}
			if err := policy.Check(s, p); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestPlaceSaysWhatItTookBack(t *testing.T) {
	s, p := round(nodes(t, 4, 4), []row{
		{held: "a1", nodes: 1, gpus: 1, set: nonPreemptive},
		{held: "b1", nodes: 1, gpus: 1, set: nonPreemptive},
		{nodes: 1, gpus: 4},
	})
	if _, err := submesh.New(submesh.DefaultOptions()).Place(t.Context(), s, p); err != nil {
		t.Fatal(err)
	}
	want := policy.Decision{Why: policy.Reason{Kind: policy.Evicted, Config: config(1, 4)}}
	if diff := cmp.Diff(want, p.Jobs[2]); diff != "" {
		t.Errorf("decision (-want +got):\n%s", diff)
	}
}

// A job that is to grow while it trains, and for which there is no room in whole workers, goes on
// with what it has.
func TestPlaceLeavesAJobThatCannotGrowWhatItHas(t *testing.T) {
	s, p := round(nodes(t, 4, 4), []row{
		{held: "a2", nodes: 1, gpus: 4, set: func(j *policy.Job, d *policy.Decision) {
			resizes(j, d)
			j.WorkerGPUs, d.Why = 2, policy.Reason{Kind: policy.Grown, Config: config(1, 2), Value: 4, Limit: 2}
		}},
		{held: "a1", nodes: 1, gpus: 1, set: nonPreemptive},
		{held: "b3", nodes: 1, gpus: 3, set: nonPreemptive},
	})
	if _, err := submesh.New(submesh.DefaultOptions()).Place(t.Context(), s, p); err != nil {
		t.Fatal(err)
	}
	want := policy.Decision{
		Allocation: cluster.Allocation{Configuration: config(1, 2)}, Placement: parse("a2"),
		Why: policy.Reason{Kind: policy.KeptNoPlace, Config: config(1, 4)},
	}
	if diff := cmp.Diff(want, p.Jobs[0]); diff != "" {
		t.Errorf("decision (-want +got):\n%s", diff)
	}
}

// The GPUs of a job that cannot grow are not given to another that grows after it.
func TestPlaceGivesNobodyTheGPUsOfAJobThatCannotGrow(t *testing.T) {
	grows := func(worker, held, gpus int) func(*policy.Job, *policy.Decision) {
		return func(j *policy.Job, d *policy.Decision) {
			resizes(j, d)
			j.WorkerGPUs, d.Why = worker, policy.Reason{Kind: policy.Grown, Config: config(1, held), Value: float64(gpus), Limit: float64(held)}
		}
	}
	s, p := round(nodes(t, 4, 4), []row{
		{held: "a2", nodes: 2, gpus: 6, set: grows(2, 2, 6)},
		{held: "a1", nodes: 1, gpus: 1, set: nonPreemptive},
		{held: "b3", nodes: 2, gpus: 6, set: grows(1, 3, 6)},
	})
	if _, err := submesh.New(submesh.DefaultOptions()).Place(t.Context(), s, p); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"a2", "a1", "b3"} {
		if diff := cmp.Diff(parse(want), p.Jobs[i].Placement); diff != "" {
			t.Errorf("job %d (-want +got):\n%s", i, diff)
		}
	}
}

// A policy that gives a job GPUs of two types says where.
func TestPlaceKeepsAGivenPlacementOnTwoTypes(t *testing.T) {
	c, err := cluster.New([]cluster.Node{
		{ID: "t", GPUType: "t4", Capacity: cluster.Resources{GPUs: 4}},
		{ID: "v", GPUType: "v100", Capacity: cluster.Resources{GPUs: 4}},
	})
	if err != nil {
		t.Fatal(err)
	}
	share := func(id cluster.NodeID) cluster.Share {
		return cluster.Share{Node: id, Resources: cluster.Resources{GPUs: 2}}
	}
	a := cluster.Allocation{Configuration: cluster.Configuration{Nodes: 1, GPUs: 2, GPUType: "v100"}, Also: cluster.Configuration{Nodes: 1, GPUs: 2, GPUType: "t4"}}
	s := &policy.Snapshot{Cluster: c, Jobs: []*policy.Job{{Spec: &job.Spec{ID: "m"}}, {Spec: &job.Spec{ID: "t"}}}}
	given := cluster.Placement{share("t"), share("v")}
	p := &policy.Plan{Jobs: []policy.Decision{{Allocation: a, Placement: given}, {Allocation: cluster.Allocation{Configuration: a.Also}}}}
	pl := submesh.New(submesh.DefaultOptions())
	if _, err := pl.Place(t.Context(), s, p); err != nil {
		t.Fatal(err)
	}
	if at := p.Jobs[1].Placement; !p.Jobs[0].Placement.Equal(given) || !at.Equal(cluster.Placement{share("t")}) {
		t.Errorf("got %v and %v, want %v and the rest of t", p.Jobs[0].Placement, at, given)
	}
}

func TestPlaceRefusesAGivenPlacementThatIsNotFree(t *testing.T) {
	for _, given := range []string{"a4", "z4", "a5"} {
		s, p := round(nodes(t, 4, 4), []row{
			{nodes: 1, gpus: 4, set: func(_ *policy.Job, d *policy.Decision) { d.Placement = parse("a4") }},
			{nodes: 1, gpus: 4, set: func(_ *policy.Job, d *policy.Decision) { d.Placement = parse(given) }},
		})
		_, err := submesh.New(submesh.DefaultOptions()).Place(t.Context(), s, p)
		if err == nil || !strings.HasPrefix(err.Error(), "submesh: job j1: the placement") {
			t.Errorf("given %s: got %v", given, err)
		}
	}
}

func TestPlaceSharesCPUsAndMemory(t *testing.T) {
	s, p := round(nodes(t, 4, 4), []row{{nodes: 2, gpus: 6}, {held: "b1", nodes: 1, gpus: 1}})
	p.Jobs[0].Allocation.CPUs, p.Jobs[0].Allocation.Memory = 12, 100
	p.Jobs[1].Allocation.CPUs, p.Jobs[1].Allocation.Memory = 3, 7
	if _, err := submesh.New(submesh.DefaultOptions()).Place(t.Context(), s, p); err != nil {
		t.Fatal(err)
	}
	want := []cluster.Placement{
		{
			{Node: "a", Resources: cluster.Resources{GPUs: 4, CPUs: 8, Memory: 68}},
			{Node: "b", Resources: cluster.Resources{GPUs: 2, CPUs: 4, Memory: 32}},
		},
		{{Node: "b", Resources: cluster.Resources{GPUs: 1, CPUs: 3, Memory: 7}}},
	}
	if diff := cmp.Diff(want, []cluster.Placement{p.Jobs[0].Placement, p.Jobs[1].Placement}); diff != "" {
		t.Errorf("placements (-want +got):\n%s", diff)
	}
}
