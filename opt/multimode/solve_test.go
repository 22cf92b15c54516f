package multimode_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/opt/multimode"
)

// two returns a window of two rounds with one job that needs two of three GPUs.
func two() *multimode.Problem {
	return &multimode.Problem{
		Rounds: 2, Capacity: []int{3}, Lambda: 1,
		Jobs: []multimode.Job{{
			Idle:  multimode.Point{Value: -1, Left: 2, Load: 1},
			Modes: []multimode.Mode{{Amount: 2, After: []multimode.Point{{Value: 0, Left: 1, Load: 0.5}, {Value: 1}}}},
			Held:  -1,
		}},
	}
}

func TestProblem_Validate(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*multimode.Problem)
		want   string
	}{
		{"rounds", func(p *multimode.Problem) { p.Rounds = 65 }, "multimode: 65 rounds, want 1 to 64"},
		{"lambda", func(p *multimode.Problem) { p.Lambda = math.NaN() }, "multimode: lambda NaN, want 0 to 1e+40"},
		{"capacity", func(p *multimode.Problem) { p.Capacity[0] = -1 }, "multimode: resource 0: capacity -1, want at least 0"},
		{"value", func(p *multimode.Problem) { p.Jobs[0].Idle.Value = math.Inf(-1) }, "multimode: job 0: idle: value -Inf, want -1e+40 to 1e+40"},
		{"left", func(p *multimode.Problem) { p.Jobs[0].Idle.Left = -1 }, "multimode: job 0: idle: -1 left, want 0 to 1e+40"},
		{"load", func(p *multimode.Problem) { p.Jobs[0].Modes[0].After[1].Load = -1 }, "multimode: job 0: mode 0: after 2 rounds: load -1, want 0 to 1e+40"},
		{"again", func(p *multimode.Problem) { p.Jobs[0].Again = -1 }, "multimode: job 0: again -1, want 0 to 1e+40"},
		{"held", func(p *multimode.Problem) { p.Jobs[0].Held = 1 }, "multimode: job 0: held mode 1, want -1 or one of 1"},
		{"resource", func(p *multimode.Problem) { p.Jobs[0].Modes[0].Resource = 1 }, "multimode: job 0: mode 0: resource 1, want one of 1"},
		{"amount", func(p *multimode.Problem) { p.Jobs[0].Modes[0].Amount = 0 }, "multimode: job 0: mode 0: amount 0, want at least 1"},
		{"no_points", func(p *multimode.Problem) { p.Jobs[0].Modes[0].After = nil }, "multimode: job 0: mode 0: 0 points, want 1 to 2"},
		{"many_points", func(p *multimode.Problem) { p.Rounds = 1 }, "multimode: job 0: mode 0: 2 points, want 1 to 1"},
		{"all", func(p *multimode.Problem) { p.Rounds, p.Lambda = 0, -1 }, `multimode: 0 rounds, want 1 to 64
multimode: lambda -1, want 0 to 1e+40
multimode: job 0: mode 0: 2 points, want 1 to 0`},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := two()
			test.change(p)
			_, err := multimode.Solve(t.Context(), p, multimode.DefaultOptions())
			if err == nil || err.Error() != test.want {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

func TestOptions_Validate(t *testing.T) {
	_, err := multimode.Solve(t.Context(), two(), multimode.Options{Gap: -1})
	if want := "multimode: gap -1, want at least 0 and below 1\nmultimode: 0 solves, want at least 1"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestSolve(t *testing.T) {
	idle, first, both := multimode.Run{Mode: -1}, multimode.Run{Rounds: 1}, multimode.Run{Rounds: 3}
	for _, test := range []struct {
		name         string
		change       func(*multimode.Problem)
		want         []multimode.Run
		value, bound float64
	}{
		{"runs_throughout", func(*multimode.Problem) {}, []multimode.Run{both}, 1, 1},
		{"no_jobs", func(p *multimode.Problem) { p.Jobs = nil }, []multimode.Run{}, 0, 0},
		{"no_resources", func(p *multimode.Problem) { p.Capacity, p.Jobs[0].Modes = nil, nil }, []multimode.Run{idle}, -3, -3},
		{"no_capacity", func(p *multimode.Problem) { p.Capacity[0] = 0 }, []multimode.Run{idle}, -3, -3},
		{"gang_fits_the_sum_of_rounds_only", func(p *multimode.Problem) { p.Capacity[0] = 1 }, []multimode.Run{idle}, -3, -3},
		{"without_last_term", func(p *multimode.Problem) { p.Lambda = 0 }, []multimode.Run{both}, 1, 1},
		{"value_falls", func(p *multimode.Problem) { p.Jobs[0].Modes[0].After[1].Value = -1 }, []multimode.Run{first}, -1, -1},
		{"fewer_points_than_rounds", func(p *multimode.Problem) { p.Jobs[0].Modes[0].After = p.Jobs[0].Modes[0].After[:1] }, []multimode.Run{first}, -1, -1},
		{"amount_near_overflow", func(p *multimode.Problem) {
			p.Capacity[0], p.Jobs[0].Modes[0].Amount = math.MaxInt, math.MaxInt
		}, []multimode.Run{both}, 1, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := two()
			test.change(p)
			s := solve(t, p, multimode.Options{Solves: 100})
			if diff := cmp.Diff(test.want, s.Runs); diff != "" {
				t.Error(diff)
			}
			if s.Value != test.value || math.Abs(s.Bound-test.bound) > 1e-9 || s.Interrupted {
				t.Errorf("value %v, bound %v, want %v, %v", s.Value, s.Bound, test.value, test.bound)
			}
		})
	}
}

// Shockwave §8.9: bound gaps of 0.03, 0.11 and 0.44 % for 500, 1000 and 2000 jobs on 256
// GPUs after 15 s of a commercial solver; 0.1 % is what is asked of it.
func TestSolve_closes_the_gap_at_the_scale_of_Figure_12(t *testing.T) {
	for _, jobs := range []int{500, 1000, 2000} {
		for seed := range uint64(3) {
			if s := solve(t, crowd(jobs, 256, seed), multimode.Options{Solves: 16}); s.Gap() > 1e-3 {
				t.Errorf("%d jobs, seed %d: gap %.4f %%, want at most 0.1 %%", jobs, seed, 100*s.Gap())
			}
		}
	}
}

func TestSolve_without_a_last_term_is_one_knapsack(t *testing.T) {
	p := crowd(100, 16, 1)
	p.Lambda = 0
	if s := solve(t, p, multimode.Options{Solves: 32}); s.Solves != 1 {
		t.Errorf("%d solves, want 1", s.Solves)
	}
}

// Two jobs on one node: the knapsack, which sees sums over rounds, would have one take the
// whole node in most of them and the other a part of it in all; nothing of that fits.
func TestSolve_few_jobs_with_large_modes(t *testing.T) {
	job := func(rates ...float64) multimode.Job {
		j := multimode.Job{Held: -1}
		for m, rate := range rates {
			mode := multimode.Mode{Amount: 1 << m}
			for n := range 20 {
				mode.After = append(mode.After, multimode.Point{Value: rate * float64(n+1)})
			}
			j.Modes = append(j.Modes, mode)
		}
		return j
	}
	p := &multimode.Problem{Rounds: 20, Capacity: []int{4}, Jobs: []multimode.Job{job(1, 1.9, 3.6), job(1, 1.05, 1.1)}}
	got, err := multimode.Solve(t.Context(), p, multimode.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	if want := 3.6 * 20; math.Abs(got.Value-want) > 1e-9 {
		t.Errorf("value %v, want %v: all to the first", got.Value, want)
	}
}
