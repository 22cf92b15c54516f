package shards

import (
	"context"
	"errors"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/opt/exact"
)

var unexported = cmp.Exporter(func(reflect.Type) bool { return true })

// small returns a workload that every method answers in milliseconds.
func small(drift Drift) Spec {
	s := DefaultSpec()
	s.Shards, s.Servers, s.Drift = 32, 4, drift
	return s
}

// simulate runs a method, or skips the test without the exact solver.
func simulate(t *testing.T, spec Spec, method string, rounds int) *Run {
	t.Helper()
	if !exact.Available && method != "heuristic" && method != "copter" {
		t.Skip(exact.ErrUnavailable)
	}
	b, err := NewMethod(method, spec.Seed, nil)
	if err != nil {
		t.Fatal(err)
	}
	trial := Trial{Spec: spec, Rounds: rounds}
	r, err := trial.Simulate(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	return &Run{Method: method, Spec: spec, Rounds: r}
}

// TestPaper_load_distributions: "zₖ is uniformly random in [z_min, z_max]" and
// "zₖ = zₖ₋₁ × (1 ± 0.1)". Source: thesis §5.2.1, "Load distributions".
func TestPaper_load_distributions(t *testing.T) {
	for _, drift := range drifts() {
		spec := small(drift)
		w, err := newWorkload(spec)
		if err != nil {
			t.Fatal(err)
		}
		before, sum, up := w.Zipf(), 0.0, 0
		const rounds = 2000
		for range rounds {
			in := w.Next()
			z := w.Zipf()
			if z < spec.zipfMin || z > spec.zipfMax {
				t.Fatalf("%s: exponent %v, want %v to %v", drift, z, spec.zipfMin, spec.zipfMax)
			}
			if got, want := in.loads[7]/in.loads[0], math.Pow(8, -z); math.Abs(got-want) > 1e-12 {
				t.Fatalf("%s: the eighth shard has %v of the first one's load, want %v", drift, got, want)
			}
			if step := math.Abs(z/before - 1); drift == Stateful && math.Abs(step-0.1) > 1e-9 {
				t.Fatalf("stateful: exponent %v after %v, want 10 %% more or less", z, before)
			}
			if z > before {
				up++
			}
			before, sum = z, sum+z
		}
		if mean := sum / rounds; drift == Stateless && math.Abs(mean-0.5) > 0.015 { // 0.144/√2000 = 0.003 is one deviation
			t.Errorf("stateless: mean exponent %v, want about 0.5", mean)
		}
		if share := float64(up) / rounds; math.Abs(share-0.5) > 0.06 {
			t.Errorf("%s: %v of the steps go up, want about half", drift, share)
		}
	}
}

func TestSpec_Validate_joins_complaints(t *testing.T) {
	bad := Spec{Shards: 3, Servers: 4, Drift: "sideways", zipfMin: 0.5, zipfMax: math.NaN(), Epsilon: 2, headroom: 1, sizeSpread: -1}
	err := bad.Validate()
	for _, want := range []string{"servers 4", `load "sideways"`, "zipf exponents 0.5 to NaN", "step 0", "epsilon 2", "headroom 1", "size spread -1"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want it to mention %q", err, want)
		}
	}
	if _, err := newWorkload(bad); err == nil {
		t.Error("a workload of a bad spec")
	}
}

func TestInstance_Validate(t *testing.T) {
	good := func() *Instance {
		return &Instance{
			loads: []float64{1, 2}, sizes: []float64{1, 1}, memory: []float64{2, 2}, epsilon: 0.05,
			now: assignment{{{Server: 0, Part: 1}}, nil},
		}
	}
	if err := good().validate(); err != nil {
		t.Fatal(err)
	}
	for want, spoil := range map[string]func(*Instance){
		"2 loads, 1 sizes":                func(in *Instance) { in.sizes = in.sizes[:1] },
		"2 shards on 0 servers":           func(in *Instance) { in.memory = nil },
		"shard 1: load NaN":               func(in *Instance) { in.loads[1] = math.NaN() },
		"shard 0: size 0":                 func(in *Instance) { in.sizes[0] = 0 },
		"server 1: memory +Inf":           func(in *Instance) { in.memory[1] = math.Inf(1) },
		"shard 0: on server 2":            func(in *Instance) { in.now[0][0].Server = 2 },
		"epsilon 0,":                      func(in *Instance) { in.epsilon = 0 },
		"mean load 0, want finite and mo": func(in *Instance) { in.loads = []float64{0, 0} },
	} {
		in := good()
		spoil(in)
		if err := in.validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
		for _, b := range []Balancer{heuristic{}, newExactBalancer(nil)} {
			if _, err := b.Balance(t.Context(), in); err == nil {
				t.Errorf("%T takes what has %q", b, want)
			}
		}
	}
}

// TestMethods_keep_memory_and_serve_every_shard: the thesis calls memory a hard
// constraint and load, after the shim, a soft one.
func TestMethods_keep_memory_and_serve_every_shard(t *testing.T) {
	for _, method := range []string{"heuristic", "exact", "lp-relaxed", "pop:2", "copter"} {
		t.Run(method, func(t *testing.T) {
			for _, drift := range drifts() {
				spec := small(drift)
				spec.sizeSpread, spec.headroom = 0.3, 1.5
				run := simulate(t, spec, method, 12) // Simulate checks that shards are served
				for i := range run.Rounds {
					r := &run.Rounds[i]
					if r.overMemory > 1e-9 {
						t.Errorf("%s round %d: a server is over its memory by %v", drift, r.Round, r.overMemory)
					}
					if method == "exact" && r.imbalance > 2*spec.Epsilon+1e-5 {
						t.Errorf("%s round %d: imbalance %v, want at most %v", drift, r.Round, r.imbalance, 2*spec.Epsilon)
					}
				}
			}
		})
	}
}

// TestPaper_methods_compare: "Heuristic ... produces many shard movements and
// falls short of maintaining load imbalance", POP "fails to control load
// imbalance", "LP-Relaxed and COpter both achieve lower shard movements compared
// to Exact" (super-optimality), which is within its limits. Source: thesis §5.2.1.
func TestPaper_methods_compare(t *testing.T) {
	if testing.Short() {
		t.Skip("plays 80 rounds of four methods")
	}
	spec := DefaultSpec()
	spec.Shards, spec.Servers = 64, 8
	of := map[string]Summary{}
	for _, method := range []string{"heuristic", "exact", "lp-relaxed", "pop:2"} {
		of[method] = simulate(t, spec, method, 20).Summarise(4)
	}
	for _, even := range []string{"exact", "lp-relaxed"} {
		if s := of[even]; s.mostImbalance > 0.1+1e-5 {
			t.Errorf("%s: imbalance up to %v, want at most 0.1", even, s.mostImbalance)
		}
		if s := of[even]; s.Movements >= of["heuristic"].Movements {
			t.Errorf("%s moves %v replicas a round, want fewer than the heuristic, %v", even, s.Movements, of["heuristic"].Movements)
		}
	}
	for _, uneven := range []string{"heuristic", "pop:2"} {
		if s := of[uneven]; s.Imbalance <= 0.1 {
			t.Errorf("%s: mean imbalance %v, want more than 0.1", uneven, s.Imbalance)
		}
	}
	if of["lp-relaxed"].Movements >= of["exact"].Movements {
		t.Errorf("the relaxation moves %v replicas a round, want fewer than the exact answer, %v", of["lp-relaxed"].Movements, of["exact"].Movements)
	}
}

func TestSimulate_is_deterministic(t *testing.T) {
	for _, method := range []string{"heuristic", "exact", "lp-relaxed", "pop:2", "copter"} {
		t.Run(method, func(t *testing.T) {
			first := simulate(t, small(Stateful), method, 6)
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
			if diff := cmp.Diff(first, simulate(t, small(Stateful), method, 6), unexported); diff != "" {
				t.Errorf("the same run differs (-first +second):\n%s", diff)
			}
		})
	}
}

func TestSimulate_ends_with_its_context(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	trial := Trial{Spec: small(Stateless), Rounds: 5}
	trial.Report = func(r *Round) {
		if r.Round == 2 {
			cancel()
		}
	}
	if r, err := trial.Simulate(ctx, heuristic{}); !errors.Is(err, context.Canceled) || len(r) != 3 {
		t.Errorf("got %d rounds and error %v, want three and the context's", len(r), err)
	}
}

func TestNewMethod_unknown_names(t *testing.T) {
	for _, name := range []string{"", "pop", "pop:", "pop:0", "pop:x", "simplex"} {
		if err := CheckMethod(name); err == nil || !strings.Contains(err.Error(), "want") {
			t.Errorf("method %q: error %v, want one that says what there is", name, err)
		}
	}
}

func TestTable_and_files(t *testing.T) {
	run := Run{Method: "a<b", Spec: small(Stateless), Rounds: []Round{
		{Round: 0, Movements: 90}, {Round: 1, Movements: 1, imbalance: 0.1, stats: stats{One: 3, Between: 1}}, {Round: 2, Movements: 4, imbalance: 0.2},
	}}
	s := run.Summarise(1)
	want := Summary{rounds: 2, Movements: 2.5, Imbalance: 0.15, mostImbalance: 0.2, within: 0.5, Whole: 0.75}
	if diff := cmp.Diff(want, s, cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }), unexported); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
	if got := run.Summarise(3); !reflect.DeepEqual(got, Summary{}) {
		t.Errorf("summary of nothing: %+v", got)
	}
	var table, rows, page strings.Builder
	if err := Table(&table, []Run{run}, 1); err != nil || !strings.Contains(table.String(), " 2.50 ") {
		t.Errorf("table, error %v:\n%s", err, table.String())
	}
	if err := CSV(&rows, []Run{run}); err != nil || strings.Count(rows.String(), "\n") != 4 {
		t.Errorf("csv, error %v:\n%s", err, rows.String())
	}
	if err := HTML(&page, []Run{run}, 1); err != nil || !strings.Contains(page.String(), "a&lt;b") || strings.Contains(page.String(), "a<b") {
		t.Errorf("page, error %v: the name is not escaped", err)
	}
	if err := HTML(&page, nil, 0); err != nil {
		t.Errorf("page of no runs: %v", err)
	}
}
