package pollux

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// near returns a problem whose best matrix is target: fitness is the negative distance.
// A mutation redraws one element a row, from 0 to its column's most; every matrix is feasible.
func near(target []int, most []int) *matrixProblem {
	columns := len(most)
	return &matrixProblem{
		rows: len(target) / columns, columns: columns,
		mutate: func(x []int, d *rand.Rand) {
			for i := range x {
				if d.Float64() < 1/float64(columns) {
					x[i] = d.IntN(most[i%columns] + 1)
				}
			}
		},
		repair: func([]int, *rand.Rand) {},
		fitness: func(x []int) float64 {
			far := 0.0
			for i := range x {
				far += math.Abs(float64(x[i] - target[i]))
			}
			return -far
		},
	}
}

func TestBreed_finds_the_best_matrix(t *testing.T) {
	target := []int{
		0, 4, 0, 0,
		2, 0, 0, 0,
		0, 0, 3, 1,
	}
	got := breed(t.Context(), near(target, []int{4, 4, 4, 4}), nil, breedOptions{population: 40, generations: 200}, seeded(1))
	if diff := cmp.Diff(target, got.population[0]); diff != "" {
		t.Errorf("best matrix (-want +got):\n%s", diff)
	}
	if got.fitness != 0 || got.evaluated != 40*201 || got.interrupted {
		t.Errorf("fitness %v after %d evaluations, interrupted %v, want 0 after 8040, not", got.fitness, got.evaluated, got.interrupted)
	}
}

func TestBreed_is_patient_only_so_long(t *testing.T) {
	p := near([]int{0, 0}, []int{1, 1}) // solved by the zero matrix it begins with
	for _, test := range []struct{ patience, generations int }{{0, 30}, {7, 7}, {50, 30}} {
		got := breed(t.Context(), p, nil, breedOptions{population: 4, generations: 30, patience: test.patience}, seeded(1))
		if want := 4 * (1 + test.generations); got.evaluated != want {
			t.Errorf("patience %d: %d evaluations, want %d", test.patience, got.evaluated, want)
		}
	}
	target := []int{3, 1, 4, 1, 5, 9, 2, 6}
	got := breed(t.Context(), near(target, []int{9, 9}), nil, breedOptions{population: 20, generations: 500, patience: 60}, seeded(1))
	if got.fitness != 0 {
		t.Errorf("fitness %v, want 0: it ended while matrices became fitter", got.fitness)
	}
}

// drawProblem returns a random problem with a limit on the sum of each column, kept by repair.
func drawProblem(t *rapid.T) (*matrixProblem, [][]int) {
	most := rapid.SliceOfN(rapid.IntRange(0, 5), 1, 6).Draw(t, "most")
	rows := rapid.IntRange(1, 5).Draw(t, "rows")
	element := rapid.IntRange(0, 5)
	matrix := rapid.SliceOfN(element, rows*len(most), rows*len(most))
	p := near(matrix.Draw(t, "target"), most)
	p.repair = func(x []int, _ *rand.Rand) {
		for c, left := range most {
			for i := c; i < len(x); i += len(most) {
				x[i] = min(x[i], left)
				left -= x[i]
			}
		}
	}
	return p, rapid.SliceOfN(matrix, 0, 3).Draw(t, "start")
}

func TestBreed_properties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, start := drawProblem(t)
		before := make([][]int, 0, len(start))
		for _, x := range start {
			before = append(before, slices.Clone(x))
		}
		o := breedOptions{population: rapid.IntRange(2, 12).Draw(t, "population"), generations: rapid.IntRange(0, 8).Draw(t, "generations")}
		got := breed(context.Background(), p, start, o, seeded(7))
		if diff := cmp.Diff(got, breed(context.Background(), p, start, o, seeded(7)), cmp.AllowUnexported(bred{})); diff != "" {
			t.Fatalf("the same inputs give another result:\n%s", diff)
		}
		if diff := cmp.Diff(before, start); len(start) > 0 && diff != "" {
			t.Fatalf("the given matrices were modified:\n%s", diff)
		}
		if want := max(o.population, len(start)) + o.generations*(o.population+o.population%2); got.evaluated != want {
			t.Fatalf("%d evaluations, want %d", got.evaluated, want)
		}
		if len(got.population) < 1 || len(got.population) > o.population {
			t.Fatalf("%d matrices, want 1 to %d", len(got.population), o.population)
		}
		for i, x := range got.population {
			repaired := slices.Clone(x)
			if p.repair(repaired, nil); !slices.Equal(repaired, x) {
				t.Fatalf("matrix %v is not allowed", x)
			}
			if i > 0 && p.fitness(x) > p.fitness(got.population[i-1]) {
				t.Fatalf("matrix %d is fitter than the one before", i)
			}
			for _, y := range got.population[:i] {
				if slices.Equal(x, y) {
					t.Fatalf("matrix %v is there twice", x)
				}
			}
		}
		for _, x := range start {
			if p.repair(x, nil); p.fitness(x) > got.fitness {
				t.Fatalf("fitness %v, less than %v of a given matrix", got.fitness, p.fitness(x))
			}
		}
	})
}

func TestBreed_ends_with_its_context(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got := breed(ctx, near([]int{1, 2}, []int{3, 3}), nil, breedOptions{population: 4, generations: 9}, seeded(1))
	if !got.interrupted || got.evaluated != 4 {
		t.Errorf("interrupted %v after %d evaluations, want after the first 4", got.interrupted, got.evaluated)
	}
}
