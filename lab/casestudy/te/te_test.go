package te

import (
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/internal/testdata"
)

var unexported = cmp.Exporter(func(reflect.Type) bool { return true })

// read returns a topology of the shared data.
func read(t testing.TB, name string) *Topology {
	t.Helper()
	f, err := os.Open(testdata.Path(t, "te/"+name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	topology, err := ReadTopology(name, f)
	if err != nil {
		t.Fatal(err)
	}
	return topology
}

func TestReadTopology_shared_data(t *testing.T) {
	for name, want := range map[string][2]int{
		"B4.json": {12, 38}, "UsCarrier.json": {158, 378}, "Kdl.json": {754, 1790}, "ASN2k.json": {1739, 8558},
	} {
		got := read(t, name)
		if len(got.nodes) != want[0] || len(got.links) != want[1] {
			t.Errorf("%s: %d nodes, %d links, want %v", name, len(got.nodes), len(got.links), want)
		}
	}
}

func TestReadTopology(t *testing.T) {
	got, err := ReadTopology("x", strings.NewReader(`{"directed": false,
		"nodes": [{"id": 10}, {"id": 2}], "links": [{"source": 2, "target": 10, "capacity": 5}]}`))
	want := &Topology{Name: "x", nodes: []string{"2", "10"}, links: []link{{From: 0, To: 1, Capacity: 5}, {From: 1, To: 0, Capacity: 5}}}
	if d := cmp.Diff(want, got, unexported); d != "" || err != nil {
		t.Errorf("error %v, (-want +got):\n%s", err, d)
	}
	for _, bad := range []struct{ file, want string }{
		{`{`, "x: node-link JSON: unexpected EOF"},
		{`{"nodes": [{"id": 1}, {"id": 1}]}`, "x: node 1 is listed twice"},
		{`{"nodes": [{"id": 1}]}`, "x: 1 nodes, want at least 2"},
		{`{"nodes": [{"id": 1}, {"id": 2}], "links": [{"source": 1, "target": 3, "capacity": 1}]}`, "x: link 0: from 1 to 3, want two listed nodes"},
		{`{"nodes": [{"id": 1}, {"id": 2}], "links": [{"source": 1, "target": 2}]}`, "x: link 0: no capacity"},
		{`{"directed": true, "nodes": [{"id": 1}, {"id": 2}], "links": [{"source": 1, "target": 2, "capacity": -1}]}`, "x: link 0: capacity -1, want finite and at least 0"},
		{`{"directed": true, "nodes": [{"id": 1}, {"id": 2}], "links": [{"source": 2, "target": 2, "capacity": 1}]}`, "x: link 0: from node 2 to itself"},
	} {
		if _, err := ReadTopology("x", strings.NewReader(bad.file)); err == nil || err.Error() != bad.want {
			t.Errorf("%s: error %v, want %s", bad.file, err, bad.want)
		}
	}
}

func TestReadMatrices_refuses(t *testing.T) {
	topology := &Topology{nodes: []string{"a", "b"}}
	for file, want := range map[string]string{
		"slot,src,dst,demand\n0,a,b,1\n0,a,b,2\n": "m: slot 0: nodes 0 to 1 are listed twice",
		"slot,src,dst,demand\n0,a,c,1\n":          `m: line 2: src "a" and dst "c", want two nodes of the topology`,
		"slot,src,dst,demand\n-1,a,b,1\n":         `m: line 2: slot "-1", want a number from 0 to 100000`,
		"slot,src,dst,demand\n0,a,b,NaN\n":        `m: line 2: demand "NaN", want a finite number of at least 0`,
		"slot,src,dst,demand\n0,a,b\n":            "m: record on line 2: wrong number of fields",
	} {
		if _, err := ReadMatrices("m", strings.NewReader(file), topology); err == nil || err.Error() != want {
			t.Errorf("%q: error %v, want %s", file, err, want)
		}
	}
}

func TestReadMatrices_of_B4(t *testing.T) {
	f, err := os.Open(testdata.Path(t, "te/B4_real_tm.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	slots, err := ReadMatrices("B4_real_tm.csv", f, read(t, "B4.json"))
	if err != nil || len(slots) != 36 {
		t.Fatalf("%d slots, error %v, want 36", len(slots), err)
	}
	if want := (Demand{source: 0, target: 1, volume: 9.771513125}); slots[0][0] != want {
		t.Errorf("first demand %v, want %v", slots[0][0], want)
	}
}

// anyTopology draws a small directed network, perhaps not connected.
func anyTopology(r *rapid.T) *Topology {
	n := rapid.IntRange(2, 9).Draw(r, "nodes")
	t := &Topology{Name: "any"}
	for i := range n {
		t.nodes = append(t.nodes, string(rune('a'+i)))
	}
	for range rapid.IntRange(1, 30).Draw(r, "links") {
		from, step := rapid.IntRange(0, n-1).Draw(r, "from"), rapid.IntRange(1, n-1).Draw(r, "step")
		t.links = append(t.links, link{From: from, To: (from + step) % n, Capacity: float64(rapid.IntRange(0, 5).Draw(r, "capacity"))})
	}
	return t
}

func allPairs(t *Topology) []Demand {
	var all []Demand
	for s := range t.nodes {
		for e := range t.nodes {
			if s != e {
				all = append(all, Demand{source: s, target: e, volume: 1})
			}
		}
	}
	return all
}

// shortest returns the links of a shortest path over those not yet used, by
// relaxing all links n times; -1 if there is none.
func shortest(t *Topology, d Demand, used map[int32]bool) int {
	dist := make([]int, len(t.nodes))
	for v := range dist {
		dist[v] = 1000
	}
	dist[d.source] = 0
	for range t.nodes {
		for i, l := range t.links {
			if !used[int32(i)] && l.Capacity > 0 {
				dist[l.To] = min(dist[l.To], dist[l.From]+1)
			}
		}
	}
	if dist[d.target] >= 1000 {
		return -1
	}
	return dist[d.target]
}

// TestEdgeDisjoint checks each path: it leads from source to target, passes no
// node twice and no link of an earlier path, and none is shorter; and after the
// last one there is none, unless there are k.
func TestEdgeDisjoint(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		topology := anyTopology(r)
		demands := allPairs(topology)
		k := rapid.IntRange(1, 4).Draw(r, "k")
		paths := edgeDisjoint(topology, demands, k)
		for j, d := range demands {
			used := map[int32]bool{}
			for p := paths.First[j]; p < paths.First[j+1]; p++ {
				links := paths.Of(int(p))
				if want := shortest(topology, d, used); len(links) != want {
					r.Fatalf("%v: path %v, want %d links", d, links, want)
				}
				at, been := d.source, map[int]bool{d.source: true}
				for _, e := range links {
					l := topology.links[e]
					if l.From != at || l.Capacity == 0 || used[e] || been[l.To] {
						r.Fatalf("%v: path %v: link %d from %d to %d at node %d", d, links, e, l.From, l.To, at)
					}
					at, used[e], been[l.To] = l.To, true, true
				}
				if at != d.target {
					r.Fatalf("%v: path %v ends at %d", d, links, at)
				}
			}
			if n := int(paths.First[j+1] - paths.First[j]); n < k && shortest(topology, d, used) >= 0 {
				r.Fatalf("%v: %d paths, want %d", d, n, k)
			}
		}
	})
}

func TestEdgeDisjoint_same_for_any_number_of_CPUs(t *testing.T) {
	topology := read(t, "UsCarrier.json")
	demands := allPairs(topology)
	want := edgeDisjoint(topology, demands, 4)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	if d := cmp.Diff(want, edgeDisjoint(topology, demands, 4), unexported); d != "" {
		t.Error(d)
	}
}

// Thesis §5.1.2 has N paths per pair; with 4, Kdl was measured at 332,141 demands,
// 627,256 paths and 13.7e6 coefficients, 2,167,823 of demand.
func TestPaper_size_of_Kdl(t *testing.T) {
	if testing.Short() {
		t.Skip("solves large programs")
	}
	topology := read(t, "Kdl.json")
	traffic := DefaultTraffic(Poisson, 1)
	demands, err := traffic.Demands(topology)
	if err != nil {
		t.Fatal(err)
	}
	paths := edgeDisjoint(topology, demands, 4)
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"demands", float64(len(demands)), 332_141},
		{"paths", float64(paths.Len()), 627_256},
		{"coefficients", float64(paths.Len() + len(paths.Links)), 13.7e6},
		{"volume", Total(demands), 2_167_823},
	} {
		if ratio := c.got / c.want; ratio < 0.995 || ratio > 1.005 {
			t.Errorf("%v %s, want %v within half a per cent", c.got, c.what, c.want)
		}
	}
}

// Thesis §5.2.2: "Poisson is dominated by few flows requesting majority of the
// demand by volume, whereas Bimodal sees roughly even split between two low and
// high demand bands".
func TestPaper_shapes_of_demands(t *testing.T) {
	topology := read(t, "UsCarrier.json")
	for kind, want := range map[Kind][2]float64{Poisson: {0.5, 1}, Bimodal: {0.4, 0.6}} {
		traffic := DefaultTraffic(kind, 1)
		demands, err := traffic.Demands(topology)
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(demands, func(a, b Demand) int {
			if a.volume > b.volume {
				return -1
			}
			return 1
		})
		if got := Total(demands[:len(demands)/5]) / Total(demands); got < want[0] || got > want[1] {
			t.Errorf("%s: the largest fifth wants %v of the volume, want %v", kind, got, want)
		}
	}
}

func TestTraffic_load_and_seed(t *testing.T) {
	topology, err := Generate(20, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range Kinds() {
		traffic := DefaultTraffic(kind, 7)
		traffic.Load = 1.5
		a, err := traffic.Demands(topology)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := traffic.Demands(topology)
		if d := cmp.Diff(a, b, unexported); d != "" {
			t.Errorf("%s: a second draw differs:\n%s", kind, d)
		}
		load := 0.0
		for j, paths := 0, edgeDisjoint(topology, a, 1); j < len(a); j++ {
			load += a[j].volume * float64(len(paths.Of(j)))
		}
		if got := load / topology.capacity(); got < 1.4999 || got > 1.5001 {
			t.Errorf("%s: load %v, want 1.5", kind, got)
		}
		traffic.Seed++
		if c, _ := traffic.Demands(topology); kind != Gravity && cmp.Equal(a, c, unexported) {
			t.Errorf("%s: seeds 7 and 8 agree", kind)
		}
	}
}

func TestTraffic_Validate(t *testing.T) {
	for want, change := range map[string]func(*Traffic){
		`demand "x", want one of [poisson bimodal gravity uniform]`:             func(d *Traffic) { d.Kind = "x" },
		"load 0, want finite and above 0":                                       func(d *Traffic) { d.Load = 0 },
		"lambda 4000 and decay 2, want above 0, up to 1e6 and 1":                func(d *Traffic) { d.Decay = 2 },
		"high share 0.2 of bands {1 2} and {3 2}, want 0 to 1 of bands above 0": func(d *Traffic) { d.Kind, d.high = Bimodal, band{From: 3, To: 2} },
	} {
		d := DefaultTraffic(Poisson, 1)
		change(&d)
		if err := d.Validate(); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// Thesis §5.2.2: "In each round, we perturb demands from the previous round by
// upto 10%".
func TestPaper_perturbation(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		demands := []Demand{{volume: 1}, {volume: 200}, {volume: 1e-3}}
		seed, round := rapid.Uint64().Draw(r, "seed"), rapid.IntRange(0, 99).Draw(r, "round")
		moved, again := slices.Clone(demands), slices.Clone(demands)
		perturb(moved, 0.1, seed, round)
		perturb(again, 0.1, seed, round)
		for i, d := range moved {
			if ratio := d.volume / demands[i].volume; ratio < 0.9 || ratio > 1.1 || again[i] != d {
				r.Fatalf("volume %v of %v, then %v", d.volume, demands[i].volume, again[i].volume)
			}
		}
		if moved[0].volume/demands[0].volume == moved[1].volume/demands[1].volume {
			r.Fatal("two demands move alike")
		}
	})
}

func TestGenerate_connects_everything(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(2, 40).Draw(r, "nodes")
		topology, err := Generate(n, rapid.Uint64().Draw(r, "seed"))
		if err != nil {
			r.Fatal(err)
		}
		if err := topology.validate(); err != nil {
			r.Fatal(err)
		}
		if got, most := edgeDisjoint(topology, allPairs(topology), 1).Len(), n*(n-1); got != most {
			r.Fatalf("%d of %d pairs are connected", got, most)
		}
	})
}

func TestProgram(t *testing.T) {
	topology, err := Generate(12, 3)
	if err != nil {
		t.Fatal(err)
	}
	demands := allPairs(topology)
	paths := edgeDisjoint(topology, demands, 4)
	g, err := newProgram(topology, demands, paths, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	if g.LP.Cols() != paths.Len() || g.LP.Rows() != len(demands)+len(topology.links) || g.LP.Nonzeros() != paths.Len()+len(paths.Links) {
		t.Errorf("%d columns, %d rows, %d coefficients", g.LP.Cols(), g.LP.Rows(), g.LP.Nonzeros())
	}
	for e, l := range topology.links {
		if _, up := g.LP.Sides(g.Link[e].Index()); up != l.Capacity/2 {
			t.Errorf("link %d: capacity %v, want half of %v", e, up, l.Capacity)
		}
	}
	demands[3].volume = 7
	if n, err := g.SetDemands(demands); n != 1 || err != nil {
		t.Errorf("%d rows changed, error %v, want 1", n, err)
	}
	if _, up := g.LP.Sides(g.Demand[3].Index()); up != 7 {
		t.Errorf("demand 3: %v, want 7", up)
	}
}
