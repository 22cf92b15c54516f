package genetic_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/opt/genetic"
)

func source(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// near returns a problem whose best matrix is target: fitness is the negative distance.
func near(target []int, most []int) *genetic.Problem {
	return &genetic.Problem{Rows: len(target) / len(most), Most: most, Fitness: func(x []int) float64 {
		far := 0.0
		for i := range x {
			far += math.Abs(float64(x[i] - target[i]))
		}
		return -far
	}}
}

func TestSearch_finds_the_best_matrix(t *testing.T) {
	target := []int{
		0, 4, 0, 0,
		2, 0, 0, 0,
		0, 0, 3, 1,
	}
	got := genetic.Search(t.Context(), near(target, []int{4, 4, 4, 4}), nil, genetic.Options{Population: 40, Generations: 200}, source(1))
	if diff := cmp.Diff(target, got.Population[0]); diff != "" {
		t.Errorf("best matrix (-want +got):\n%s", diff)
	}
	if got.Fitness != 0 || got.Evaluated != 40*201 || got.Interrupted {
		t.Errorf("fitness %v after %d evaluations, interrupted %v, want 0 after 8040, not", got.Fitness, got.Evaluated, got.Interrupted)
	}
}

func TestSearch_is_patient_only_so_long(t *testing.T) {
	p := near([]int{0, 0}, []int{1, 1}) // solved by the zero matrix it begins with
	for _, test := range []struct{ patience, generations int }{{0, 30}, {7, 7}, {50, 30}} {
		got := genetic.Search(t.Context(), p, nil, genetic.Options{Population: 4, Generations: 30, Patience: test.patience}, source(1))
		if want := 4 * (1 + test.generations); got.Evaluated != want {
			t.Errorf("patience %d: %d evaluations, want %d", test.patience, got.Evaluated, want)
		}
	}
	target := []int{3, 1, 4, 1, 5, 9, 2, 6}
	got := genetic.Search(t.Context(), near(target, []int{9, 9}), nil, genetic.Options{Population: 20, Generations: 500, Patience: 60}, source(1))
	if got.Fitness != 0 {
		t.Errorf("fitness %v, want 0: it ended while matrices became fitter", got.Fitness)
	}
}

// draw returns a random problem with a limit on the sum of each column, kept by repair.
func draw(t *rapid.T) (*genetic.Problem, [][]int) {
	most := rapid.SliceOfN(rapid.IntRange(0, 5), 1, 6).Draw(t, "most")
	rows := rapid.IntRange(1, 5).Draw(t, "rows")
	element := rapid.IntRange(0, 5)
	matrix := rapid.SliceOfN(element, rows*len(most), rows*len(most))
	p := near(matrix.Draw(t, "target"), most)
	p.Repair = func(x []int, _ genetic.Source) {
		for c, left := range most {
			for i := c; i < len(x); i += len(most) {
				x[i] = min(x[i], left)
				left -= x[i]
			}
		}
	}
	return p, rapid.SliceOfN(matrix, 0, 3).Draw(t, "start")
}

func TestSearch_properties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, start := draw(t)
		before := make([][]int, 0, len(start))
		for _, x := range start {
			before = append(before, slices.Clone(x))
		}
		o := genetic.Options{Population: rapid.IntRange(2, 12).Draw(t, "population"), Generations: rapid.IntRange(0, 8).Draw(t, "generations")}
		got := genetic.Search(context.Background(), p, start, o, source(7))
		if diff := cmp.Diff(got, genetic.Search(context.Background(), p, start, o, source(7))); diff != "" {
			t.Fatalf("the same inputs give another result:\n%s", diff)
		}
		if diff := cmp.Diff(before, start); len(start) > 0 && diff != "" {
			t.Fatalf("the given matrices were modified:\n%s", diff)
		}
		if want := max(o.Population, len(start)) + o.Generations*(o.Population+o.Population%2); got.Evaluated != want {
			t.Fatalf("%d evaluations, want %d", got.Evaluated, want)
		}
		if len(got.Population) < 1 || len(got.Population) > o.Population {
			t.Fatalf("%d matrices, want 1 to %d", len(got.Population), o.Population)
		}
		for i, x := range got.Population {
			repaired := slices.Clone(x)
			if p.Repair(repaired, nil); !slices.Equal(repaired, x) {
				t.Fatalf("matrix %v is not allowed", x)
			}
			if i > 0 && p.Fitness(x) > p.Fitness(got.Population[i-1]) {
				t.Fatalf("matrix %d is fitter than the one before", i)
			}
			for _, y := range got.Population[:i] {
				if slices.Equal(x, y) {
					t.Fatalf("matrix %v is there twice", x)
				}
			}
		}
		for _, x := range start {
			if p.Repair(x, nil); p.Fitness(x) > got.Fitness {
				t.Fatalf("fitness %v, less than %v of a given matrix", got.Fitness, p.Fitness(x))
			}
		}
	})
}

func TestSearch_ends_with_its_context(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got := genetic.Search(ctx, near([]int{1, 2}, []int{3, 3}), nil, genetic.Options{Population: 4, Generations: 9}, source(1))
	if !got.Interrupted || got.Evaluated != 4 {
		t.Errorf("interrupted %v after %d evaluations, want after the first 4", got.Interrupted, got.Evaluated)
	}
}
