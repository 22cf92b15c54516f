package mmkp_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/oxgang/oxgang/internal/testdata"
	"github.com/oxgang/oxgang/opt/mmkp"
)

// recorded is one scheduling round of the public Sia simulator: minimise
// Σ A·X + λ(jobs − ΣX); see golden/ilp_rounds.jsonl in the data's README.
type recorded struct {
	Round     int         `json:"round"`
	Lambda    float64     `json:"lam"`
	GPUs      []float64   `json:"gpus"`
	Red       [][]float64 `json:"red"` // GPUs per configuration and type
	A         [][]float64 `json:"A"`   // cost per job and configuration
	Fix       [][2]int    `json:"fix"` // pinned job, configuration
	Objective float64     `json:"objective"`
	Relaxed   float64     `json:"lp_objective"` // with X between 0 and 1
}

func readRecorded(t testing.TB) []recorded {
	t.Helper()
	text, err := os.ReadFile(testdata.Path(t, "sia/golden/ilp_rounds.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var all []recorded
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r recorded
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

// problem returns the round as a knapsack: value = λ − A, pinned jobs must take
// their one configuration.
func (r recorded) problem() *mmkp.Problem {
	p := &mmkp.Problem{Capacity: r.GPUs}
	for i, costs := range r.A {
		pinned := slices.IndexFunc(r.Fix, func(f [2]int) bool { return f[0] == i })
		var item mmkp.Item
		for j, a := range costs {
			if pinned >= 0 && r.Fix[pinned][1] != j {
				continue
			}
			c := mmkp.Choice{Value: r.Lambda - a}
			for k, n := range r.Red[j] {
				if n > 0 {
					c.Use = mmkp.Use{Resource: k, Amount: n}
				}
			}
			item.Choices = append(item.Choices, c)
		}
		item.Must = pinned >= 0
		p.Items = append(p.Items, item)
	}
	return p
}

func TestSolve_recorded_rounds_are_solved_exactly(t *testing.T) {
	solver, worst := mmkp.NewSolver(), 0.0
	for _, r := range readRecorded(t) {
		p := r.problem()
		s, err := solver.Solve(t.Context(), p, nil, mmkp.DefaultOptions())
		if err != nil {
			t.Fatalf("round %d: %v", r.Round, err)
		}
		if err := consistent(p, s); err != nil {
			t.Errorf("round %d: %v", r.Round, err)
		}
		objective := r.Lambda*float64(len(r.A)) - s.Value
		gap := objective/r.Objective - 1
		worst = max(worst, math.Abs(gap))
		t.Logf("round %d: %2d jobs, %.4f, recorded %.4f (%+.1e), %v, gap %.1e, %d price steps, %d nodes", r.Round, len(r.A), objective, r.Objective, gap, s.Status, s.Gap, s.Iterations, s.Nodes)
		if math.Abs(gap) > 1e-9 || s.Status != mmkp.Optimal {
			t.Errorf("round %d: objective %v (%v), want %v, proven", r.Round, objective, s.Status, r.Objective)
		}
	}
	t.Logf("worst relative difference %.1e", worst)
}

// The lowest bound over all prices is the value of the linear program.
func TestSolve_recorded_rounds_reach_the_linear_optimum(t *testing.T) {
	solver, opts := mmkp.NewSolver(), mmkp.DefaultOptions()
	opts.MaxNodes = 0
	for _, r := range readRecorded(t) {
		s, err := solver.Solve(t.Context(), r.problem(), nil, opts)
		if err != nil {
			t.Fatalf("round %d: %v", r.Round, err)
		}
		if relaxed := r.Lambda*float64(len(r.A)) - s.Bound; math.Abs(relaxed-r.Relaxed) > 1e-7 {
			t.Errorf("round %d: bound %v, want %v", r.Round, relaxed, r.Relaxed)
		}
		if s.Iterations >= opts.MaxSteps {
			t.Errorf("round %d: %d price steps, want fewer", r.Round, s.Iterations)
		}
	}
}

// consistent returns an error if s is not a feasible solution of p whose value
// and bound agree with its picks.
func consistent(p *mmkp.Problem, s *mmkp.Solution) error {
	value, used := p.Value(s.Pick)
	if math.Abs(value-s.Value) > 1e-9*math.Abs(value) {
		return fmt.Errorf("value %v, want %v, that of the picks", s.Value, value)
	}
	for k, u := range used {
		if u > p.Capacity[k]*(1+1e-9) {
			return fmt.Errorf("resource %d: %v used, want at most %v", k, u, p.Capacity[k])
		}
	}
	for i, j := range s.Pick {
		if j < 0 && p.Items[i].Must {
			return fmt.Errorf("item %d: no choice, want one", i)
		}
		if j >= 0 && !p.Items[i].Must && p.Items[i].Choices[j].Value <= 0 {
			return fmt.Errorf("item %d: choice %d of value %v, want none", i, j, p.Items[i].Choices[j].Value)
		}
	}
	if s.Bound < s.Value {
		return fmt.Errorf("bound %v, want at least the value %v", s.Bound, s.Value)
	}
	return nil
}
