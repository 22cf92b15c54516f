package pack_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
	"github.com/oxgang/oxgang/policy/placement/pack"
	"github.com/oxgang/oxgang/simulate/placementtest"
)

var _ placement.Placer = (*pack.Placer)(nil)

// A row is one job of a test round.
type row struct {
	gpus    int
	needs   int     // CPUs a GPU for full speed
	named   float64 // CPUs in all; 0: what it needs
	held    string  // where it is: "a4 b2"; empty: it waits
	given   string  // where the policy placed it
	restart time.Duration
	want    string  // where it is to be; empty: it is refused
	cpus    float64 // that it is to have
}

// nodes returns v100 nodes a, b, c, ... of the given GPUs and CPUs.
func nodes(t *testing.T, sizes ...[2]int) *cluster.Cluster {
	t.Helper()
	var all []cluster.Node
	for i, size := range sizes {
		r := cluster.Resources{GPUs: size[0], CPUs: float64(size[1]), Memory: int64(size[1]) * 20e9}
		all = append(all, cluster.Node{ID: cluster.NodeID(fmt.Sprintf("%c", 'a'+i)), GPUType: "v100", Capacity: r})
	}
	c, err := cluster.New(all)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// parse reads a placement: "a4 b2" is four GPUs of node a and two of b, with so
// many CPUs each.
func parse(line string, each float64) cluster.Placement {
	var p cluster.Placement
	for f := range strings.FieldsSeq(line) {
		var gpus int
		if _, err := fmt.Sscan(f[1:], &gpus); err != nil {
			panic(err)
		}
		p = append(p, cluster.Share{Node: cluster.NodeID(f[:1]), Resources: cluster.Resources{GPUs: gpus, CPUs: each * float64(gpus), Memory: int64(gpus) * 1e9}})
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

// linear returns a sensitivity that needs so many CPUs a GPU for one sample per
// second, and in proportion less for less.
func linear(cpus int) *perf.Sensitivity {
	s := &perf.Sensitivity{Input: job.Input{Working: 1e9}}
	for c := 1; c <= cpus; c++ {
		s.CPUs = append(s.CPUs, perf.CPURate{CPUs: float64(c), Rate: float64(c) / float64(cpus)})
	}
	return s
}

func round(c *cluster.Cluster, rows []row) (*policy.Snapshot, *policy.Plan) {
	s, p := &policy.Snapshot{Cluster: c, Length: time.Minute}, &policy.Plan{Fungible: true}
	for i, r := range rows {
		j := &policy.Job{Spec: &job.Spec{ID: job.ID(fmt.Sprint("j", i)), GPUs: r.gpus, RestartOverhead: r.restart}, Sensitivity: linear(r.needs)}
		j.Perf = &placementtest.Model{PerGPU: 1, Input: j.Sensitivity}
		j.Phase = job.Waiting
		if r.named == 0 {
			r.named = float64(r.gpus * r.needs)
		}
		var d policy.Decision
		d.Allocation.Configuration = cluster.Configuration{Nodes: 1, GPUs: r.gpus, GPUType: "v100"}
		d.Allocation.CPUs, d.Allocation.Memory = r.named, int64(r.gpus)*1e9
		if r.held != "" {
			j.Phase, j.Allocation, j.Placement = job.Running, d.Allocation, parse(r.held, r.named/float64(r.gpus))
		}
		if r.given != "" {
			d.Placement = parse(r.given, r.named/float64(r.gpus))
		}
		s.Jobs, p.Jobs = append(s.Jobs, j), append(p.Jobs, d)
	}
	return s, p
}

func TestPlace(t *testing.T) {
	server := [2]int{8, 24}
	tests := []struct {
		name    string
		nodes   [][2]int
		penalty float64
		rows    []row
	}{
		{name: "on the node with the least free that has room for all", nodes: [][2]int{server, server, server}, penalty: 1, rows: []row{
			{gpus: 4, needs: 1, held: "b4", want: "b4", cpus: 4},
			{gpus: 4, needs: 5, held: "c4", want: "c4", cpus: 20},
			{gpus: 2, needs: 6, want: "b2", cpus: 12},
			{gpus: 2, needs: 2, want: "b2", cpus: 4},
		}},
		{name: "CPUs are left for the GPUs that stay free", nodes: [][2]int{server, server}, penalty: 1, rows: []row{
			{gpus: 1, needs: 12, want: "a1", cpus: 12},
			{gpus: 1, needs: 12, want: "b1", cpus: 12},
			{gpus: 7, needs: 1, want: "a7", cpus: 7},
			{gpus: 7, needs: 1, want: "b7", cpus: 7},
		}},
		{name: "no GPU is idle for want of CPUs", nodes: [][2]int{server}, penalty: 1, rows: []row{
			{gpus: 4, needs: 6, held: "a4", want: "a4", cpus: 12},
			{gpus: 4, needs: 6, named: 12, want: "a4", cpus: 12},
		}},
		{name: "a job too large for what is free on one node is split over few", nodes: [][2]int{server, server, server}, penalty: 1, rows: []row{
			{gpus: 5, needs: 3, held: "a5", restart: time.Hour, want: "a5", cpus: 15},
			{gpus: 4, needs: 3, held: "b4", restart: time.Hour, want: "b4", cpus: 12},
			{gpus: 3, needs: 3, held: "c3", restart: time.Hour, want: "c3", cpus: 9},
			{gpus: 7, needs: 3, want: "a2 c5", cpus: 21},
		}},
		{name: "stays, where a move costs more than it gains", nodes: [][2]int{server, server}, penalty: 1, rows: []row{
			{gpus: 4, needs: 5, held: "a4", restart: time.Minute, want: "a4", cpus: 12},
			{gpus: 4, needs: 5, held: "a4", restart: time.Minute, want: "a4", cpus: 12},
			{gpus: 4, needs: 1, held: "b4", restart: time.Minute, want: "b4", cpus: 4},
			{gpus: 4, needs: 1, held: "b4", restart: time.Minute, want: "b4", cpus: 4},
		}},
		{name: "moves, where it gains more than that costs", nodes: [][2]int{server, server}, penalty: 1, rows: []row{
			{gpus: 4, needs: 5, held: "a4", restart: time.Second, want: "b4", cpus: 20},
			{gpus: 4, needs: 5, held: "a4", restart: time.Second, want: "a4", cpus: 20},
			{gpus: 4, needs: 1, held: "b4", restart: time.Second, want: "a4", cpus: 4},
			{gpus: 4, needs: 1, held: "b4", restart: time.Second, want: "b4", cpus: 4},
		}},
		{name: "never splits at penalty 1", nodes: [][2]int{server, server}, penalty: 1, rows: []row{
			{gpus: 8, needs: 1, want: "b8", cpus: 8},
			{gpus: 8, needs: 4, named: 32, want: "a8", cpus: 24},
		}},
		{name: "splits for what others gain", nodes: [][2]int{server, server}, penalty: 0.1, rows: []row{
			{gpus: 8, needs: 1, want: "a1 b7", cpus: 8},
			{gpus: 1, needs: 12, named: 12, want: "b1", cpus: 12},
			{gpus: 7, needs: 3, named: 21, want: "a7", cpus: 21},
		}},
		{name: "richer nodes have more to give", nodes: [][2]int{server, {8, 48}}, penalty: 1, rows: []row{
			{gpus: 8, needs: 6, named: 48, want: "b8", cpus: 48},
			{gpus: 8, needs: 3, want: "a8", cpus: 24},
		}},
		{name: "around what the policy placed", nodes: [][2]int{server, server}, penalty: 1, rows: []row{
			{gpus: 2, needs: 12, given: "a2", want: "a2", cpus: 24},
			{gpus: 4, needs: 1, held: "a4", want: "b4", cpus: 4},
		}},
		{name: "nodes that do not count CPUs: by GPUs", nodes: [][2]int{{4, 0}, {4, 0}}, penalty: 1, rows: []row{
			{gpus: 1, needs: 1, held: "b1", want: "b1", cpus: 1},
			{gpus: 3, needs: 9, want: "b3", cpus: 27},
			{gpus: 4, needs: 1, want: "a4", cpus: 4},
			{gpus: 1, needs: 1, want: ""},
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, p := round(nodes(t, test.nodes...), test.rows)
			pl, err := pack.New(pack.Options{Penalty: test.penalty})
			if err != nil {
				t.Fatal(err)
			}
			p = placeWith(t, pl, s, p)
			var got, want []string
			for i, r := range test.rows {
				d := &p.Jobs[i]
				got = append(got, fmt.Sprint(text(d.Placement), " ", d.Allocation.CPUs))
				want = append(want, fmt.Sprint(r.want, " ", r.cpus))
				if evicted := d.Why.Kind == policy.Evicted; evicted != (r.want == "") {
					t.Errorf("job %d: refused %v", i, evicted)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("placements (-want +got):\n%s", diff)
			}
			if err := policy.CheckPlacement(s, p); err != nil {
				t.Error(err)
			}
		})
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
	pl, _ := pack.New(pack.DefaultOptions())
	if _, err := pl.Place(t.Context(), s, p); err != nil {
		t.Fatal(err)
	}
	if at := p.Jobs[1].Placement; !p.Jobs[0].Placement.Equal(given) || !at.Equal(cluster.Placement{share("t")}) {
		t.Errorf("got %v and %v, want %v and the rest of t", p.Jobs[0].Placement, at, given)
	}
}

func TestPlaceRefusesAGivenPlacementThatIsNotFree(t *testing.T) {
	for _, given := range []string{"a8", "z8", "a9"} {
		s, p := round(nodes(t, [2]int{8, 24}), []row{{gpus: 4, needs: 1, given: "a4"}, {gpus: 8, needs: 1, given: given}})
		pl, _ := pack.New(pack.DefaultOptions())
		_, err := pl.Place(t.Context(), s, p)
		if err == nil || !strings.HasPrefix(err.Error(), "pack: job j1: the placement") {
			t.Errorf("given %s: got %v", given, err)
		}
	}
}

func TestOptions(t *testing.T) {
	for _, penalty := range []float64{-0.1, 1.1} {
		if _, err := pack.New(pack.Options{Penalty: penalty}); err == nil {
			t.Errorf("penalty %v is taken", penalty)
		}
	}
}
