package te

import (
	"bytes"
	"context"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/internal/testdata"

	"github.com/oxgang/oxgang/opt/exact"
)

func methods(t testing.TB, names ...string) []Method {
	t.Helper()
	if !exact.Available {
		t.Skip("exact solver is not in this build")
	}
	var all []Method
	for _, name := range names {
		m, err := NewMethod(name, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
	return all
}

// anyInstance draws a network with demands on it, and a flow that may be
// anything.
func anyInstance(r *rapid.T) (*Instance, []float64) {
	topology := anyTopology(r)
	demands := allPairs(topology)
	for j := range demands {
		demands[j].volume = rapid.Float64Range(0, 5).Draw(r, "volume")
	}
	in := &Instance{topology: topology, demands: demands, paths: edgeDisjoint(topology, demands, 4)}
	flow := make([]float64, in.paths.Len())
	for p := range flow {
		flow[p] = rapid.Float64Range(-1, 6).Draw(r, "flow")
	}
	return in, flow
}

// feasible fails unless a flow is, to rounding.
func feasible(r *rapid.T, in *Instance, flow []float64) {
	if link, demand, negative := in.violation(flow); link > 1e-12 || demand > 1e-12 || negative > 0 {
		r.Fatalf("links %v, demands %v, flows %v over", link, demand, negative)
	}
}

func TestRepair(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		in, flow := anyInstance(r)
		given := slices.Clone(flow)
		wasFeasible := func() bool {
			link, demand, negative := in.violation(given)
			return link <= 0 && demand <= 0 && negative <= 0
		}()
		in.scaleBack(flow)
		feasible(r, in, flow)
		for p, x := range flow {
			if x > max(given[p], 0) {
				r.Fatalf("path %d: %v, was %v", p, x, given[p])
			}
		}
		if wasFeasible && !cmp.Equal(flow, given) {
			r.Fatal("a feasible flow was changed")
		}
		scaled := slices.Clone(flow)
		in.topUp(flow)
		feasible(r, in, flow)
		loads := in.loads(flow)
		for j, d := range in.demands {
			first, end := in.paths.First[j], in.paths.First[j+1]
			left := d.volume
			for p := first; p < end; p++ {
				left -= flow[p]
				if flow[p] < scaled[p] {
					r.Fatalf("path %d: %v, was %v", p, flow[p], scaled[p])
				}
			}
			for p := first; p < end; p++ {
				more := left
				for _, e := range in.paths.Of(int(p)) {
					more = min(more, in.topology.links[e].Capacity-loads[e])
				}
				if more > 1e-9 {
					r.Fatalf("path %d could carry %v more", p, more)
				}
			}
		}
	})
}

// Seeded: a flow that ignores one shared link is caught.
func TestViolation_catches(t *testing.T) {
	in := &Instance{
		topology: &Topology{nodes: []string{"a", "b"}, links: []link{{From: 0, To: 1, Capacity: 3}}},
		demands:  []Demand{{source: 0, target: 1, volume: 2}, {source: 0, target: 1, volume: 9}},
	}
	in.paths = edgeDisjoint(in.topology, in.demands, 4)
	link, demand, negative := in.violation([]float64{5, -1})
	if link != 0.25 || demand != 1 || negative != 1 {
		t.Errorf("links %v, demands %v, flows %v, want 0.25, 1 and 1", link, demand, negative)
	}
}

// Every heuristic carries at most the optimum, every answer is feasible to the
// tolerance of its solver, and bounds hold. Thesis §5.2.2, "Evaluated approaches".
func TestRun_no_method_beats_LP_All(t *testing.T) {
	if testing.Short() {
		t.Skip("solves large programs")
	}
	names := []string{"lp-all", "lp-all:ipm", "lp-top", "lp-top:lp-first", "pop:3", "pop:1", "copter"}
	rapid.Check(t, func(r *rapid.T) {
		topology, err := Generate(rapid.IntRange(4, 12).Draw(r, "nodes"), rapid.Uint64().Draw(r, "seed"))
		if err != nil {
			r.Fatal(err)
		}
		traffic := DefaultTraffic(rapid.SampledFrom(Kinds()).Draw(r, "kind"), 1)
		traffic.Load = rapid.Float64Range(0.2, 3).Draw(r, "load")
		demands, err := traffic.Demands(topology)
		if err != nil {
			r.Fatal(err)
		}
		spec := Spec{Topology: topology, Demands: demands, Paths: 4, Move: 0.1, Seed: 1}
		rounds, err := Run(context.Background(), spec, methods(t, names...), 2, nil, nil)
		if err != nil {
			r.Fatal(err)
		}
		for i := range rounds {
			k := &rounds[i]
			best := rounds[i-i%len(names)].Flow // of lp-all in this round
			exactly := strings.HasPrefix(k.Method, "lp-all") || k.Method == "pop:1"
			switch {
			case k.Flow > best*(1+1e-6) || k.toppedUp > best*(1+1e-6) || k.toppedUp < k.Flow*(1-1e-12):
				r.Fatalf("%s: flow %v, topped up %v, best is %v", k.Method, k.Flow, k.toppedUp, best)
			case exactly && k.Flow < best*(1-1e-5):
				r.Fatalf("%s: flow %v, want %v", k.Method, k.Flow, best)
			case k.Method == "copter" && k.toppedUp < best*(1-1e-3):
				r.Fatalf("%s: flow %v, want 99.9 %% of %v", k.Method, k.toppedUp, best)
			case k.bound < best*(1-1e-6) || k.bound > best*(1+1e-6):
				r.Fatalf("%s: bound %v, best is %v", k.Method, k.bound, best)
			case k.violation > 2e-4:
				r.Fatalf("%s: violation %v", k.Method, k.violation)
			}
		}
	})
}

func TestRun_measured_demands_of_B4(t *testing.T) {
	topology := read(t, "B4.json")
	f, err := os.Open(testdata.Path(t, "te/B4_real_tm.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	slots, err := ReadMatrices("B4", f, topology)
	if err != nil {
		t.Fatal(err)
	}
	rounds, err := Run(context.Background(), Spec{Topology: topology, Rounds: slots, Paths: 4}, methods(t, "lp-all", "copter"), len(slots), nil, nil)
	if err != nil || len(rounds) != 72 {
		t.Fatalf("%d rounds, error %v, want 36 by 2 methods", len(rounds), err)
	}
	for i := range rounds {
		r := &rounds[i]
		if want := Total(slots[r.Round]); math.Abs(r.Demand-want) > 1e-9*want || r.toppedGap() > 1e-3 {
			t.Errorf("%s: round %d: demand %v, want %v; gap %v", r.Method, r.Round, r.Demand, want, r.toppedGap())
		}
	}
}

func TestRun_twice_is_the_same(t *testing.T) {
	topology, err := Generate(15, 2)
	if err != nil {
		t.Fatal(err)
	}
	traffic := DefaultTraffic(Gravity, 2)
	demands, err := traffic.Demands(topology)
	if err != nil {
		t.Fatal(err)
	}
	run := func() []Round {
		spec := Spec{Topology: topology, Demands: demands, Paths: 4, Move: 0.1, Seed: 2}
		rounds, err := Run(context.Background(), spec, methods(t, "lp-all", "lp-top", "pop:4", "copter"), 3, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		return rounds
	}
	if d := cmp.Diff(run(), run(), unexported); d != "" {
		t.Error(d)
	}
}

func TestSummarise_leaves_out_the_start(t *testing.T) {
	rounds := []Round{
		{Method: "a", Round: 0, Demand: 1, Flow: 1, toppedUp: 1, bound: 1, CPU: 9},
		{Method: "a", Round: 1, Demand: 10, Flow: 4, toppedUp: 6, bound: 8, CPU: 2, parallel: 2},
		{Method: "a", Round: 2, Demand: 10, Flow: 6, toppedUp: 8, bound: 8, CPU: 4, parallel: 2, limited: true},
	}
	want := []Summary{{
		method: "a", rounds: 2, demand: 10, Flow: 5, toppedUp: 7, Served: 0.5, Gap: 0.375, toppedGap: 0.125,
		CPU: 3, Worst: 4, Parallel: 2, limited: 1,
	}}
	if d := cmp.Diff(want, Summarise(rounds, 1), unexported); d != "" {
		t.Error(d)
	}
}

func TestTable_CSV_and_HTML(t *testing.T) {
	rounds := []Round{{Method: "<m>", Demand: 10, Flow: 4, toppedUp: 5, bound: 8, CPU: 1500 * time.Millisecond, parallel: time.Second}}
	var table, csv, page bytes.Buffer
	if err := Table(&table, rounds, 0); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Fields(table.String()), "<m> 4 40.00 50.000 5 37.500 0.0e+00 1.500 1.500 1.000 0"; !strings.HasSuffix(strings.Join(got, " "), want) {
		t.Errorf("table %q, want %q at its end", got, want)
	}
	if err := CSV(&csv, rounds); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Split(csv.String(), "\n")[1], "<m>,0,10,4,5,8,0,1.500,1.000,0,false"; got != want {
		t.Errorf("CSV %q, want %q", got, want)
	}
	if err := HTML(&page, "a & b", []Demand{{volume: 1}, {volume: 100}}, rounds, 0); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"a &amp; b", "&lt;m&gt;", "<polyline", "0.0,"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("page has no %q", want)
		}
	}
	if strings.Contains(page.String(), "NaN") || strings.Contains(page.String(), "http") {
		t.Error("page has NaN, or loads something")
	}
}

func TestNewMethod_refuses(t *testing.T) {
	for _, name := range []string{"", "lp", "lp-all:x", "pop", "pop:0", "pop:x", "lp-top:x", "copter:1"} {
		if _, err := NewMethod(name, 1, nil); err == nil || !strings.HasPrefix(err.Error(), "method ") {
			t.Errorf("%q: error %v, want one about the method", name, err)
		}
	}
}
