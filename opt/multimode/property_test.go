package multimode_test

import (
	"context"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/opt/multimode"
)

// fataler is what tests and rapid have in common.
type fataler interface {
	Helper()
	Context() context.Context
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

var (
	small = problems(5, 5, 6)    // for the integer program
	large = problems(60, 12, 40) // for properties
	wide  = problems(8, 64, 10)  // as many rounds as can be
	sizes = []int{1, 1, 1, 2, 4, 8}
)

// problems draws windows of jobs whose values rise by less and less, as logarithms do, or
// just anyhow; with time left that falls or does not; with fewer points than rounds; with
// modes for which there is no capacity.
func problems(jobs, rounds, capacity int) *rapid.Generator[*multimode.Problem] {
	return rapid.Custom(func(t *rapid.T) *multimode.Problem {
		p := &multimode.Problem{Rounds: rapid.IntRange(1, rounds).Draw(t, "rounds")}
		if rounds == multimode.MaxRounds {
			p.Rounds = rounds
		}
		p.Capacity = rapid.SliceOfN(rapid.IntRange(0, capacity), 1, 2).Draw(t, "capacity")
		p.Lambda = rapid.SampledFrom([]float64{0, 0.1, 1, 30}).Draw(t, "lambda")
		busy := rapid.SampledFrom([]float64{0, 0.05, 1}).Draw(t, "busy") // 0: the longest job is all of the last term
		for range rapid.IntRange(0, jobs).Draw(t, "jobs") {
			p.Jobs = append(p.Jobs, anyJob(t, p, busy))
		}
		return p
	})
}

func anyJob(t *rapid.T, p *multimode.Problem, busy float64) multimode.Job {
	number := rapid.Float64Range(0, 10)
	j := multimode.Job{Held: -1, Again: rapid.SampledFrom([]float64{0, 0.01, 0.2, 3}).Draw(t, "again")}
	j.Idle = multimode.Point{Value: number.Draw(t, "value") - 5, Left: number.Draw(t, "left"), Load: busy * number.Draw(t, "load")}
	anyhow := rapid.IntRange(0, 4).Draw(t, "anyhow") == 0
	for range rapid.IntRange(0, 2).Draw(t, "modes") {
		m := multimode.Mode{
			Resource: rapid.IntRange(0, len(p.Capacity)-1).Draw(t, "resource"),
			Amount:   rapid.SampledFrom(sizes).Draw(t, "amount"),
		}
		at, rise, speed := j.Idle, number.Draw(t, "rise"), number.Draw(t, "speed")/5
		for n := range rapid.IntRange(1, p.Rounds).Draw(t, "points") {
			if anyhow {
				at = multimode.Point{Value: number.Draw(t, "value") - 5, Left: number.Draw(t, "left"), Load: busy * number.Draw(t, "load")}
			} else {
				at.Value += rise / float64(n+1)
				at.Left, at.Load = max(0, at.Left-speed), max(0, at.Load-busy*speed)
			}
			m.After = append(m.After, at)
		}
		j.Modes = append(j.Modes, m)
	}
	j.Held = rapid.IntRange(-1, len(j.Modes)-1).Draw(t, "held")
	return j
}

func solve(t fataler, p *multimode.Problem, o multimode.Options) *multimode.Schedule {
	t.Helper()
	s, err := multimode.Solve(t.Context(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func nobody(p *multimode.Problem) []multimode.Run {
	runs := make([]multimode.Run, len(p.Jobs))
	for i := range runs {
		runs[i].Mode = -1
	}
	return runs
}

func everyProblem(t *testing.T, property func(*rapid.T, *multimode.Problem, *multimode.Schedule)) {
	for name, kind := range map[string]*rapid.Generator[*multimode.Problem]{"small": small, "large": large, "wide": wide} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				p := kind.Draw(t, "problem")
				property(t, p, solve(t, p, multimode.Options{Solves: rapid.IntRange(1, 8).Draw(t, "solves")}))
			})
		})
	}
}

// spare returns what is left of each resource in each round.
func spare(p *multimode.Problem, runs []multimode.Run) [][]int {
	free := make([][]int, len(p.Capacity))
	for k, b := range p.Capacity {
		for n := range p.Rounds {
			free[k] = append(free[k], b)
			for i, r := range runs {
				if r.In(n) && p.Jobs[i].Modes[r.Mode].Resource == k {
					free[k][n] -= p.Jobs[i].Modes[r.Mode].Amount
				}
			}
		}
	}
	return free
}

func TestPlan_holds_the_capacity_in_every_round(t *testing.T) {
	everyProblem(t, func(t *rapid.T, p *multimode.Problem, s *multimode.Schedule) {
		for k, free := range spare(p, s.Runs) {
			for n, f := range free {
				if f < 0 {
					t.Fatalf("resource %d, round %d: %d left", k, n, f)
				}
			}
		}
		for i, r := range s.Runs {
			if r.Rounds>>1>>(p.Rounds-1) != 0 || (r.Rounds == 0) != (r.Mode == -1) {
				t.Fatalf("job %d: %+v in %d rounds", i, r, p.Rounds)
			}
		}
	})
}

func TestPlan_is_worth_its_value_and_no_more_than_its_bound(t *testing.T) {
	everyProblem(t, func(t *rapid.T, p *multimode.Problem, s *multimode.Schedule) {
		if got := p.Worth(s.Runs); got != s.Value || !(s.Value <= s.Bound) || math.IsInf(s.Bound, 1) {
			t.Fatalf("worth %v, value %v, bound %v", got, s.Value, s.Bound)
		}
		if nothing := p.Worth(nobody(p)); s.Value < nothing-1e-9*(1+math.Abs(nothing)) {
			t.Fatalf("value %v, of nothing %v", s.Value, nothing)
		}
	})
}

// starts counts, round by round, those that points do not count.
func starts(p *multimode.Problem, i int, r multimode.Run) (further int) {
	counted := r.Mode != p.Jobs[i].Held // the first one
	before := !counted                  // goes on
	for n := range p.Rounds {
		if r.In(n) && !before {
			further++
		}
		before = r.In(n)
	}
	if counted && r.Rounds != 0 {
		further--
	}
	return further
}

// merit returns what a run is worth to a job, if the last term is its alone.
func merit(p *multimode.Problem, i int, r multimode.Run) (value, left, load float64) {
	j := &p.Jobs[i]
	at := j.Idle
	if n := r.Count(); n > 0 {
		at = j.Modes[r.Mode].After[n-1]
	}
	return at.Value - j.Again*float64(starts(p, i, r)), at.Left, at.Load
}

// Shockwave App. H: "Idle resources are not allowed when there are ready jobs".
func TestPlan_leaves_no_round_to_a_job_that_would_gain(t *testing.T) {
	everyProblem(t, func(t *rapid.T, p *multimode.Problem, s *multimode.Schedule) {
		free := spare(p, s.Runs)
		for i, r := range s.Runs {
			value, left, load := merit(p, i, r)
			for m, mode := range p.Jobs[i].Modes {
				for n := range p.Rounds {
					if r.In(n) || r.Rounds != 0 && m != r.Mode || free[mode.Resource][n] < mode.Amount || r.Count() >= len(mode.After) {
						continue
					}
					v, l, o := merit(p, i, multimode.Run{Mode: m, Rounds: r.Rounds | 1<<n})
					if gain := v - value - p.Lambda*max(0, l-left, o-load); gain > 1e-9 {
						t.Fatalf("job %d, %+v, gains %v by mode %d in round %d", i, r, gain, m, n)
					}
				}
			}
		}
	})
}

func TestPlan_is_the_same_for_the_same_problem(t *testing.T) {
	everyProblem(t, func(t *rapid.T, p *multimode.Problem, s *multimode.Schedule) {
		again := solve(t, p, multimode.Options{Solves: max(1, s.Solves)})
		if diff := cmp.Diff(s, again); diff != "" {
			t.Fatal(diff)
		}
	})
}

// The order of jobs decides between equal ones. No plan is better than the bound of
// another order; before anything is halved the bounds are equal to 1e-6, unless
// the plan itself proves a better one.
func TestBound_holds_in_every_order(t *testing.T) {
	everyProblem(t, func(t *rapid.T, p *multimode.Problem, s *multimode.Schedule) {
		q := *p
		q.Jobs = rapid.Permutation(p.Jobs).Draw(t, "jobs")
		other := solve(t, &q, multimode.Options{Solves: s.Solves})
		if slack := 1e-9 * (1 + math.Abs(s.Bound)); other.Value > s.Bound+slack || s.Value > other.Bound+slack {
			t.Fatalf("values %v, %v, bounds %v, %v", s.Value, other.Value, s.Bound, other.Bound)
		}
		one, same := solve(t, p, multimode.Options{Solves: 2}), solve(t, &q, multimode.Options{Solves: 2})
		if slack := 1e-6 * (1 + math.Abs(one.Bound)); math.Abs(one.Bound-same.Bound) > slack && one.Bound > one.Value && same.Bound > same.Value {
			t.Fatalf("bounds %v, %v", one.Bound, same.Bound)
		}
	})
}

// Anytime: more knapsacks never make it worse.
// Of the value that is so with one mode a job: where there are others, another plan to
// start from may lead to a worse one in the end.
func TestSolve_gets_better_with_every_knapsack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := large.Draw(t, "problem")
		for i := range p.Jobs {
			p.Jobs[i].Modes = p.Jobs[i].Modes[:min(1, len(p.Jobs[i].Modes))]
			p.Jobs[i].Held = min(p.Jobs[i].Held, len(p.Jobs[i].Modes)-1)
		}
		last := solve(t, p, multimode.Options{Solves: 1})
		for solves := 2; solves <= 10; solves++ {
			s := solve(t, p, multimode.Options{Solves: solves})
			if s.Value < last.Value || s.Bound > last.Bound+1e-12*math.Abs(last.Bound) || s.Solves > solves {
				t.Fatalf("%d solves: value %v, bound %v after %d; before %v, %v", solves, s.Value, s.Bound, s.Solves, last.Value, last.Bound)
			}
			last = s
		}
	})
}

func TestSolve_without_time_has_a_plan_and_a_bound(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	rapid.Check(t, func(t *rapid.T) {
		p := large.Draw(t, "problem")
		s, err := multimode.Solve(ctx, p, multimode.Options{Solves: 8})
		if err != nil {
			t.Fatal(err)
		}
		with := solve(t, p, multimode.Options{Solves: 8})
		if s.Solves > 2 || math.IsInf(s.Bound, 0) || !(s.Bound >= with.Value-1e-9*(1+math.Abs(s.Bound))) || s.Value != p.Worth(s.Runs) {
			t.Fatalf("value %v, bound %v after %d solves; with time %v", s.Value, s.Bound, s.Solves, with.Value)
		}
		if with.Solves > 2 && !s.Interrupted {
			t.Fatalf("not interrupted after %d solves, with time %d", s.Solves, with.Solves)
		}
		if with.Interrupted {
			t.Fatal("interrupted though there was time")
		}
	})
}
