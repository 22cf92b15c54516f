package shards

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// TestPaper_shim: "greedily remove assigned shards j one by one, starting with
// those placing the least load Rᵢⱼ lⱼ. A shard j is only removed if it has
// replicas on other servers, and if removed, we proportionally shift its load
// share". Source: thesis §5.1.1.
func TestPaper_shim(t *testing.T) {
	in := &Instance{
		loads: []float64{10, 4, 1}, sizes: []float64{1, 1, 1}, memory: []float64{2, 3, 3}, epsilon: 0.05,
	}
	// Server 0 hosts three shards and has memory for two. Shard 2 brings the
	// least load, 1, but is nowhere else; then comes shard 1 with 0.4·4 = 1.6,
	// before shard 0 with 0.5·10.
	r := assignment{
		{{0, 0.5}, {1, 0.5}},
		{{0, 0.4}, {1, 0.45}, {2, 0.15}},
		{{0, 1}},
	}
	got, stats := runShim(in, r)
	want := assignment{
		{{0, 0.5}, {1, 0.5}},
		{{1, 0.75}, {2, 0.25}}, // 0.4 shifted 3 to 1
		{{0, 1}},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-12), unexported); diff != "" {
		t.Errorf("shim (-want +got):\n%s", diff)
	}
	if stats != (shimStats{Dropped: 1}) {
		t.Errorf("did %+v, want one replica dropped", stats)
	}
	if r.Replicas() != 6 {
		t.Error("the shim changed its argument")
	}
}

// TestShim_servers_full_of_last_replicas: two servers drop what they share with
// a third, which then holds the only replicas of more than it has memory for.
func TestShim_servers_full_of_last_replicas(t *testing.T) {
	in := &Instance{
		loads: []float64{5, 6, 7, 8}, sizes: []float64{1, 1, 1, 1}, memory: []float64{1, 1, 2}, epsilon: 0.05,
	}
	r := assignment{
		{{0, 0.5}, {2, 0.5}}, {{0, 0.9}, {2, 0.1}}, // server 0 keeps the second
		{{1, 0.1}, {2, 0.9}}, {{1, 0.2}, {2, 0.8}},
	}
	got, stats := runShim(in, r)
	if in.overMemory(got) > 0 || stats.Stuck > 0 {
		t.Errorf("got %v after %+v, want every server within its memory", got, stats)
	}
	if want := (shimStats{Dropped: 4}); stats != want {
		t.Errorf("did %+v, want %+v", stats, want)
	}
	crowd := assignment{{{0, 1}}, {{0, 1}}, {{0, 1}}, {{0, 1}}}
	got, stats = runShim(in, crowd)
	if stats.Evicted != 3 || stats.Stuck != 0 || in.overMemory(got) > 0 || !got.Hosts(3, 0) {
		t.Errorf("got %v after %+v, want the three shards with the least load moved", got, stats)
	}
	in.memory = []float64{1, 1, 1}
	if _, stats = runShim(in, crowd); stats.Stuck != 1 {
		t.Errorf("did %+v with memory for three of four shards, want one server stuck", stats)
	}
}

// routing draws an instance and an R that meets nothing but Σᵢ Rᵢⱼ = 1. There is
// memory for one replica of every shard wherever they go.
func routing(t *rapid.T, unit bool) (*Instance, assignment) {
	d, n := rapid.IntRange(1, 12).Draw(t, "shards"), rapid.IntRange(1, 6).Draw(t, "servers")
	in := &Instance{epsilon: 0.05}
	r := make(assignment, d)
	total, largest := 0.0, 0.0
	for j := range d {
		size := 1.0
		if !unit {
			size = rapid.Float64Range(0.5, 2).Draw(t, "size")
		}
		total, largest = total+size, max(largest, size)
		in.loads = append(in.loads, rapid.Float64Range(0, 10).Draw(t, "load"))
		in.sizes = append(in.sizes, size)
		r[j] = shares(t, n)
	}
	for range n {
		memory := float64((d + n - 1) / n)
		if !unit {
			memory = total/float64(n) + largest // so the emptiest server always has room
		}
		in.memory = append(in.memory, memory)
	}
	in.now = r
	return in, r
}

func shares(t *rapid.T, n int) []share {
	var list []share
	sum := 0.0
	for i := range n {
		if part := rapid.Float64Range(-1, 1).Draw(t, "part"); part > 0 {
			list = append(list, share{Server: i, Part: part})
			sum += part
		}
	}
	if sum < 1e-3 {
		return []share{{Server: rapid.IntRange(0, n-1).Draw(t, "server"), Part: 1}}
	}
	for k := range list {
		list[k].Part /= sum
	}
	return list
}

// TestShim_invariants: 1. memory is never exceeded; 2. every shard is served;
// 3. replicas are only dropped, and only of shards with others, unless some were
// evicted; 4. what fits is left alone.
func TestShim_invariants(t *testing.T) {
	for _, unit := range []bool{true, false} {
		rapid.Check(t, func(t *rapid.T) {
			in, r := routing(t, unit)
			got, stats := runShim(in, r)
			if over := in.overMemory(got); over > 1e-9 || stats.Stuck > 0 {
				t.Fatalf("memory exceeded by %v, %+v", over, stats)
			}
			if miss := got.Unserved(); miss > 1e-9 {
				t.Fatalf("a shard's parts miss 1 by %v", miss)
			}
			if moved := r.Movements(got); moved > stats.Evicted {
				t.Fatalf("%d replicas on new servers, want at most the %d evicted", moved, stats.Evicted)
			}
			if lost := r.Replicas() - got.Replicas(); lost != stats.Dropped {
				t.Fatalf("%d replicas gone, want the %d dropped", lost, stats.Dropped)
			}
			if in.overMemory(r) == 0 && !cmp.Equal(r, got, unexported) {
				t.Fatalf("changed a placement that fits: %v to %v", r, got)
			}
		})
	}
}
