package shards

import (
	"context"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/opt/exact"
	"github.com/oxgang/oxgang/opt/lp"
)

func drawInstance(t *rapid.T, d, n int) *Instance {
	d, n = rapid.IntRange(1, d).Draw(t, "shards"), rapid.IntRange(1, n).Draw(t, "servers")
	in := &Instance{epsilon: 0.05, now: make(assignment, d)}
	for j := range d {
		in.loads = append(in.loads, rapid.Float64Range(0.1, 10).Draw(t, "load"))
		in.sizes = append(in.sizes, rapid.Float64Range(0.5, 2).Draw(t, "size"))
		for i := range n {
			if rapid.IntRange(0, 2).Draw(t, "there") == 0 {
				in.now[j] = append(in.now[j], share{i, 1})
			}
		}
	}
	for range n {
		in.memory = append(in.memory, rapid.Float64Range(1, 8).Draw(t, "memory"))
	}
	return in
}

func solve(t interface{ Fatal(...any) }, p *lp.Problem) *lp.Solution {
	s, err := exactSolver(0)
	if err != nil {
		t.Fatal(err)
	}
	sol, err := s.Solve(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	return sol
}

// TestRelaxation_needs_R_alone: the program in R has the optimum of the relaxed
// one in R and X, as the package comment proves, and is infeasible with it.
func TestRelaxation_needs_R_alone(t *testing.T) {
	if !exact.Available {
		t.Skip(exact.ErrUnavailable)
	}
	draws.AtLeast(t, 100) // 6 of 10 are feasible
	feasible := 0
	rapid.Check(t, func(t *rapid.T) {
		in := drawInstance(t, 8, 4)
		f, err := newFull(in, false)
		if err != nil {
			t.Fatal(err)
		}
		r, err := newRelaxation(in)
		if err != nil {
			t.Fatal(err)
		}
		want, got := solve(t, &f.problem), solve(t, &r.problem)
		if want.Status != got.Status {
			t.Fatalf("R and X: %v, R alone: %v", want.Status, got.Status)
		}
		if got.Status != lp.Optimal {
			return
		}
		feasible++
		if math.Abs(want.Objective-got.Objective) > 1e-6*(1+want.Objective) {
			t.Fatalf("R and X cost %v, R alone %v", want.Objective, got.Objective)
		}
	})
	if feasible < 20 {
		t.Errorf("%d feasible instances, want more for a test", feasible)
	}
}

// TestRelaxation_update_is_rebuild: edits of a program give what building it anew
// does.
func TestRelaxation_update_is_rebuild(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInstance(t, 6, 4)
		r, err := newRelaxation(in)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			next := drawNext(t, in)
			if err := r.update(next); err != nil {
				t.Fatal(err)
			}
			fresh, err := newRelaxation(next)
			if err != nil {
				t.Fatal(err)
			}
			for k := range r.cols {
				got, want := column(&r.problem, r.cols[k]), column(&fresh.problem, fresh.cols[k])
				if diff := cmp.Diff(want, got, unexported); diff != "" {
					t.Fatalf("column %d (-rebuilt +updated):\n%s", k, diff)
				}
			}
		}
	})
	r, err := newRelaxation(&Instance{loads: []float64{1}, sizes: []float64{1}, memory: []float64{2}, epsilon: 0.05, now: assignment{nil}})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.update(&Instance{loads: []float64{1, 1}, sizes: []float64{1, 1}, memory: []float64{2}, epsilon: 0.05, now: assignment{nil, nil}}); err == nil {
		t.Error("a round with another number of shards is taken")
	}
}

// drawNext draws another placement and other loads for the same servers.
func drawNext(t *rapid.T, in *Instance) *Instance {
	next := *in
	next.loads, next.now = nil, make(assignment, in.shards())
	for j := range in.loads {
		next.loads = append(next.loads, rapid.Float64Range(0.1, 10).Draw(t, "load"))
		if rapid.Bool().Draw(t, "placed") {
			next.now[j] = []share{{rapid.IntRange(0, in.servers()-1).Draw(t, "server"), 1}}
		}
	}
	return &next
}

func column(p *lp.Problem, c lp.Col) map[uint32]float64 {
	col := p.Column(c.Index())
	m := map[uint32]float64{math.MaxUint32: col.Cost}
	for k, r := range col.Rows {
		m[r] = col.Values[k]
	}
	return m
}

// TestExact_agrees_with_enumeration: of all placements X of up to three shards on
// two servers, the cheapest that some R can serve costs what Exact's does.
func TestExact_agrees_with_enumeration(t *testing.T) {
	if !exact.Available {
		t.Skip(exact.ErrUnavailable)
	}
	found := 0
	check := func(t *rapid.T) {
		in := drawInstance(t, 3, 2)
		in.epsilon = 0.3
		f, err := newFull(in, true)
		if err != nil {
			t.Fatal(err)
		}
		best := math.Inf(1)
		costs := startCosts(in)
		for x := range 1 << len(f.hosted) {
			cost := 0.0
			for k, c := range f.hosted {
				v := float64(x >> k & 1)
				cost += v * costs[k]
				if err := f.problem.SetBounds(c, v, v); err != nil {
					t.Fatal(err)
				}
			}
			if cost < best && solve(t, &f.problem).Status == lp.Optimal {
				best = cost
			}
		}
		method, err := newExactMethod(0)
		if err != nil {
			t.Fatal(err)
		}
		r, err := method.Balance(context.Background(), in)
		if (err == nil) != (best < math.Inf(1)) {
			t.Fatalf("error %v, but the best of all placements costs %v", err, best)
		}
		if err != nil {
			return
		}
		found++
		if math.Abs(r.stats.Objective-best) > 1e-6 {
			t.Fatalf("cost %v, but the best of all placements costs %v", r.stats.Objective, best)
		}
		if in.imbalance(r.assignment) > 2*in.epsilon+1e-5 || in.overMemory(r.assignment) > 1e-6 {
			t.Fatalf("imbalance %v, over memory %v", in.imbalance(r.assignment), in.overMemory(r.assignment))
		}
	}
	rapid.Check(t, check)
	if found < 10 {
		t.Errorf("%d feasible instances, want more for a test", found)
	}
}

// TestParts_split: every shard and server is in one part, and parts have equal
// counts.
func TestParts_split(t *testing.T) {
	in := &Instance{loads: make([]float64, 10), memory: make([]float64, 7)}
	p, err := newParts(3, 5, nil, func() (Balancer, error) { return heuristic{}, nil })
	if err != nil {
		t.Fatal(err)
	}
	if err := p.split(in); err != nil {
		t.Fatal(err)
	}
	seen := map[int]int{}
	for _, q := range p.parts {
		if len(q.shards) < 3 || len(q.shards) > 4 || len(q.servers) < 2 || len(q.servers) > 3 {
			t.Errorf("part of %d shards on %d servers, want a third of 10 and 7", len(q.shards), len(q.servers))
		}
		for _, j := range q.shards {
			seen[j]++
		}
		for _, i := range q.servers {
			seen[100+i]++
		}
	}
	for what, times := range seen {
		if times != 1 {
			t.Errorf("%d is in %d parts, want one", what, times)
		}
	}
	if len(seen) != 17 {
		t.Errorf("%d shards and servers in parts, want 17", len(seen))
	}
	wide, err := newParts(8, 5, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := wide.split(in); err == nil {
		t.Error("eight parts of seven servers")
	}
	if _, err := newParts(0, 5, nil, nil); err == nil {
		t.Error("no parts")
	}
}

// TestHeuristic: the hottest shards of the most loaded server go to the least
// loaded one, as long as that stays within the limit and has memory.
func TestHeuristic(t *testing.T) {
	in := &Instance{
		loads: []float64{9, 4, 3, 2}, sizes: []float64{1, 1, 1, 1}, memory: []float64{4, 4}, epsilon: 0.05,
		now: assignment{{{0, 1}}, {{0, 1}}, {{0, 1}}, {{0, 1}}},
	}
	r, err := heuristic{}.Balance(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	// Mean 9, limit 9.45: the hottest fits and nothing else has to go.
	want := assignment{{{1, 1}}, {{0, 1}}, {{0, 1}}, {{0, 1}}}
	if diff := cmp.Diff(want, r.assignment, unexported); diff != "" {
		t.Errorf("placement (-want +got):\n%s", diff)
	}
	in.loads[0] = 20 // more than a server's share: it stays, the others go
	if r, err = (heuristic{}).Balance(context.Background(), in); err != nil {
		t.Fatal(err)
	}
	want = assignment{{{0, 1}}, {{1, 1}}, {{1, 1}}, {{1, 1}}}
	if diff := cmp.Diff(want, r.assignment, unexported); diff != "" {
		t.Errorf("placement (-want +got):\n%s", diff)
	}
	in.memory[1] = 2
	if r, err = (heuristic{}).Balance(context.Background(), in); err != nil || in.overMemory(r.assignment) > 0 {
		t.Errorf("error %v, memory exceeded by %v", err, in.overMemory(r.assignment))
	}
}
