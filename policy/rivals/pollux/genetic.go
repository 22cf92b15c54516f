package pollux

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
)

type matrixProblem struct {
	rows, columns int
	mutate        func(x []int, d *rand.Rand) // in place
	repair        func(x []int, d *rand.Rand) // in place
	fitness       func(x []int) float64       // of a feasible matrix; not NaN
}

type breedOptions struct {
	population  int // surviving matrices; at least 2
	generations int
	patience    int // generations without progress before the end; 0: never
}

type bred struct {
	population  [][]int // without duplicates, fittest first
	fitness     float64 // of the first
	evaluated   int
	interrupted bool
}

// breed searches for matrices of high fitness. It starts from start or the zero matrix, and mutants. A generation
// is:
//
//	tournament   a parent is the fitter of two drawn at random
//	crossover    two children have each row from one of two parents, at random
//	mutation     p.mutate changes each child
//	repair       p.repair makes it feasible
//	survival     the fittest of parents and children live on, each matrix once
//
// The result is at least as fit as each repaired start. It evaluates max(population, len(start)) matrices, then
// population (rounded up to even) per generation.
// Source: Pollux §4.2.1.
func breed(ctx context.Context, p *matrixProblem, start [][]int, o breedOptions, d *rand.Rand) bred {
	if p.rows < 1 || p.columns < 1 || o.population < 2 {
		panic("pollux: no rows, no columns or a population below two")
	}
	s := &breeder{p: p, d: d, size: o.population}
	s.begin(start)
	vain := 0
	for range o.generations {
		if ctx.Err() != nil {
			s.result.interrupted = true
			break
		}
		before := s.all[0].fitness
		s.addChildren()
		s.survive()
		if vain++; s.all[0].fitness > before {
			vain = 0
		}
		if vain == o.patience && vain > 0 {
			break
		}
	}
	for i := range s.all {
		s.result.population = append(s.result.population, s.all[i].x)
	}
	s.result.fitness = s.all[0].fitness
	return s.result
}

type candidate struct {
	x       []int
	fitness float64
}

type breeder struct {
	p      *matrixProblem
	d      *rand.Rand
	size   int
	all    []candidate
	spare  [][]int
	result bred
}

func (s *breeder) begin(start [][]int) {
	n := s.p.rows * s.p.columns
	if len(start) == 0 {
		start = [][]int{make([]int, n)}
	}
	for i := range max(s.size, len(start)) {
		from := start[i%len(start)]
		if len(from) != n {
			panic("pollux: matrix of another size")
		}
		x := s.copyOf(from)
		if i >= len(start) {
			s.p.mutate(x, s.d)
		}
		s.add(x)
	}
	s.survive()
}

func (s *breeder) addChildren() {
	parents := len(s.all)
	for range (s.size + 1) / 2 {
		a, b := s.copyOf(s.tournament(parents)), s.copyOf(s.tournament(parents))
		s.mix(a, b)
		for _, x := range [][]int{a, b} {
			s.p.mutate(x, s.d)
			s.add(x)
		}
	}
}

func (s *breeder) mix(a, b []int) {
	columns := s.p.columns
	for row := range s.p.rows {
		if s.d.IntN(2) == 0 {
			continue
		}
		for i := row * columns; i < (row+1)*columns; i++ {
			a[i], b[i] = b[i], a[i]
		}
	}
}

func (s *breeder) tournament(parents int) []int {
	return s.all[min(s.d.IntN(parents), s.d.IntN(parents))].x
}

func (s *breeder) add(x []int) {
	s.p.repair(x, s.d)
	s.all = append(s.all, candidate{x, s.p.fitness(x)})
	s.result.evaluated++
}

func (s *breeder) survive() {
	slices.SortStableFunc(s.all, func(a, b candidate) int { return cmp.Compare(b.fitness, a.fitness) })
	kept := 0
	for _, c := range s.all {
		if kept == s.size || s.has(kept, c) {
			s.spare = append(s.spare, c.x)
			continue
		}
		s.all[kept] = c
		kept++
	}
	s.all = s.all[:kept]
}

func (s *breeder) has(n int, c candidate) bool {
	for i := n - 1; i >= 0 && s.all[i].fitness == c.fitness; i-- {
		if slices.Equal(s.all[i].x, c.x) {
			return true
		}
	}
	return false
}

func (s *breeder) copyOf(x []int) []int {
	last := len(s.spare) - 1
	if last < 0 {
		return slices.Clone(x)
	}
	y := s.spare[last]
	s.spare = s.spare[:last]
	copy(y, x)
	return y
}
