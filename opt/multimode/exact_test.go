package multimode_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/opt/exact"
	"github.com/oxgang/oxgang/opt/lp"
	"github.com/oxgang/oxgang/opt/multimode"
)

// A reference is the whole program as an integer program: for each job, mode and round
// whether it runs, how often it runs, whether it starts, and one column for the last term.
type reference struct {
	lp.Problem
	p    *multimode.Problem
	last lp.Col
	runs [][][]lp.Col // by job, mode, round
}

func (r *reference) row(low, up float64, entries ...lp.ColEntry) lp.Row {
	row, err := r.AddRow(low, up, entries...)
	if err != nil {
		panic(err)
	}
	return row
}

func (r *reference) col(cost, up float64, integer bool, entries ...lp.RowEntry) lp.Col {
	col, err := r.AddCol(cost, 0, up, entries...)
	if err != nil {
		panic(err)
	}
	if err := r.SetInteger(col, integer); err != nil {
		panic(err)
	}
	return col
}

// program minimises what is lost.
func program(p *multimode.Problem) *reference {
	r := &reference{p: p, runs: make([][][]lp.Col, len(p.Jobs))}
	r.last = r.col(p.Lambda, lp.Inf, false)
	load := r.row(0, lp.Inf, lp.ColEntry{Col: r.last, Value: 1}) // last − Σ load >= 0
	capacity := make([][]lp.Row, len(p.Capacity))
	for k, b := range p.Capacity {
		for range p.Rounds {
			capacity[k] = append(capacity[k], r.row(-lp.Inf, float64(b)))
		}
	}
	for i := range p.Jobs {
		r.job(i, load, capacity)
	}
	return r
}

func (r *reference) job(i int, load lp.Row, capacity [][]lp.Row) {
	j := &r.p.Jobs[i]
	left := r.row(0, lp.Inf, lp.ColEntry{Col: r.last, Value: 1}) // last − left >= 0
	one := r.row(1, 1)
	becomes := func(at multimode.Point, cost float64, more ...lp.RowEntry) {
		r.col(cost-at.Value, 1, true, append(more, lp.RowEntry{Row: one, Value: 1},
			lp.RowEntry{Row: load, Value: -at.Load}, lp.RowEntry{Row: left, Value: -at.Left})...)
	}
	becomes(j.Idle, 0)
	for m, mode := range j.Modes {
		often := r.row(0, 0) // Σ runs − how often = 0
		first := 0.0         // the first start is free
		if m != j.Held {
			first = j.Again
		}
		for n := 1; n <= r.p.Rounds; n++ {
			becomes(mode.After[min(n, len(mode.After))-1], -first, lp.RowEntry{Row: often, Value: -float64(n)})
		}
		r.runs[i] = append(r.runs[i], r.mode(j, m, often, capacity[mode.Resource]))
	}
}

// mode adds whether a job runs in a mode in each round, and whether it starts.
func (r *reference) mode(j *multimode.Job, m int, often lp.Row, capacity []lp.Row) (runs []lp.Col) {
	for t := range r.p.Rounds {
		x := r.col(0, 1, true, lp.RowEntry{Row: often, Value: 1}, lp.RowEntry{Row: capacity[t], Value: float64(j.Modes[m].Amount)})
		if t > 0 { // start − runs + ran before >= 0
			start := r.row(0, lp.Inf, lp.ColEntry{Col: x, Value: -1}, lp.ColEntry{Col: runs[t-1], Value: 1})
			r.col(j.Again, 1, false, lp.RowEntry{Row: start, Value: 1})
		} else if m != j.Held {
			r.col(j.Again, 1, false, lp.RowEntry{Row: r.row(0, lp.Inf, lp.ColEntry{Col: x, Value: -1}), Value: 1})
		}
		runs = append(runs, x)
	}
	return runs
}

// best solves the integer program.
func (r *reference) best(t fataler) (value float64, runs []multimode.Run) {
	t.Helper()
	solver, err := exact.New(exact.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	s, err := solver.Solve(t.Context(), &r.Problem)
	if err != nil || s.Status != lp.Optimal {
		t.Fatalf("status %v, error %v", s, err)
	}
	for i := range r.runs {
		run := multimode.Run{Mode: -1}
		for m := range r.runs[i] {
			for n, x := range r.runs[i][m] {
				if s.Value(x) > 0.5 {
					run.Mode = m
					run.Rounds |= 1 << n
				}
			}
		}
		runs = append(runs, run)
	}
	return -s.Objective, runs
}

func needExact(t *testing.T) {
	t.Helper()
	if !exact.Available {
		t.Skip("no HiGHS in this build")
	}
}

// Bound >= optimum >= Value, and the program is worth what Worth says.
func TestSolve_against_the_integer_program(t *testing.T) {
	needExact(t)
	rapid.Check(t, func(t *rapid.T) {
		p := small.Draw(t, "problem")
		optimum, runs := program(p).best(t)
		if got := p.Worth(runs); math.Abs(got-optimum) > 1e-6*(1+math.Abs(optimum)) {
			t.Fatalf("the optimal runs %v are worth %v, want %v", runs, got, optimum)
		}
		for _, solves := range []int{1, 2, 3, 32} {
			s := solve(t, p, multimode.Options{Solves: solves})
			if slack := 1e-6 * (1 + math.Abs(optimum)); s.Bound < optimum-slack || optimum < s.Value-slack {
				t.Fatalf("%d solves: bound %v, optimum %v, value %v", solves, s.Bound, optimum, s.Value)
			}
		}
	})
}

// On 400 problems of up to 5 jobs in 5 rounds, of what the optimum gains over doing
// nothing the plan lacks less than one in two hundred on average.
func TestSolve_is_near_the_optimum(t *testing.T) {
	needExact(t)
	lack, n := 0.0, 0
	for seed := range 400 {
		p := small.Example(seed)
		optimum, _ := program(p).best(t)
		nothing := p.Worth(nobody(p))
		if gain := optimum - nothing; gain > 1e-6 {
			lack += max(0, optimum-solve(t, p, multimode.Options{Solves: 32}).Value) / gain
			n++
		}
	}
	if mean := lack / float64(n); mean > 0.005 || n < 100 {
		t.Errorf("mean lack %.2f %% of %d problems, want at most 0.5 %% of at least 100", 100*mean, n)
	} else {
		t.Logf("mean lack %.2f %% of %d problems", 100*mean, n)
	}
}
