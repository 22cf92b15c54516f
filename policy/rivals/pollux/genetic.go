package genetic

import (
	"cmp"
	"context"
	"slices"
)

// A Source draws random numbers; a *rand.Rand is one.
type Source interface {
	// IntN returns a number from 0 to n-1.
	IntN(n int) int
	// Float64 returns a number in [0, 1).
	Float64() float64
}

// A Problem says which matrices are good. A matrix is a slice, row by row.
type Problem struct {
	Rows int
	// Most holds, for each column, the largest element, at least 0; the smallest is 0.
	Most []int
	// Mutate changes a matrix at random, in place. Nil: each element is redrawn from 0 to
	// Most with a probability of one in the number of columns.
	Mutate func(x []int, r Source)
	// Repair changes a matrix, in place, into one that is allowed. Nil: all are.
	Repair func(x []int, r Source)
	// Fitness returns how good a matrix is that is allowed; more is better. It must
	// not be NaN, and neither modify nor keep x.
	Fitness func(x []int) float64
}

// Options say how long to search.
type Options struct {
	Population  int // matrices that live on; at least 2
	Generations int // at least 0
	// Patience ends the search after so many generations in a row without a matrix that
	// is fitter than all before; 0: never.
	Patience int
}

// A Result is what a search found.
type Result struct {
	// Population holds the last generation, the fittest matrix first; no two are equal.
	Population [][]int
	Fitness    float64 // of the first
	Evaluated  int     // calls of Fitness
	// Interrupted: the context ended before the last generation.
	Interrupted bool
}

// Search returns a population that is bred from the given matrices, which it does not
// modify; without any it begins with the zero matrix. The result is at least as fit as
// each of them, as repaired. It panics on a problem without rows or columns, on a
// matrix of another size, and on a population of less than two. It calls Repair and
// Fitness at most Population times, or len(start) if that is more, and Population,
// rounded up to even, for each generation; sorts cost as much again.
// Source: Pollux §4.2.1.
func Search(ctx context.Context, p *Problem, start [][]int, o Options, r Source) Result {
	if p.Rows < 1 || len(p.Most) < 1 || o.Population < 2 {
		panic("genetic: no rows, no columns or a population of less than two")
	}
	s := &search{p: p, r: r, size: o.Population}
	s.begin(start)
	vain := 0
	for range o.Generations {
		if ctx.Err() != nil {
			s.result.Interrupted = true
			break
		}
		before := s.all[0].fitness
		s.breed()
		s.survive()
		if vain++; s.all[0].fitness > before {
			vain = 0
		}
		if vain == o.Patience && vain > 0 {
			break
		}
	}
	for i := range s.all {
		s.result.Population = append(s.result.Population, s.all[i].x)
	}
	s.result.Fitness = s.all[0].fitness
	return s.result
}

// A candidate is a matrix with its fitness.
type candidate struct {
	x       []int
	fitness float64
}

type search struct {
	p      *Problem
	r      Source
	size   int
	all    []candidate // those that live, the fittest first; then their children
	spare  [][]int     // memory of those that died
	result Result
}

// begin makes the first population: the given matrices, then mutants of them.
func (s *search) begin(start [][]int) {
	n := s.p.Rows * len(s.p.Most)
	if len(start) == 0 {
		start = [][]int{make([]int, n)}
	}
	for i := range max(s.size, len(start)) {
		from := start[i%len(start)]
		if len(from) != n {
			panic("genetic: matrix of another size")
		}
		x := s.copyOf(from)
		if i >= len(start) {
			s.mutate(x)
		}
		s.add(x)
	}
	s.survive()
}

// breed adds as many children as matrices may live on, in pairs: one more if that is odd.
func (s *search) breed() {
	parents := len(s.all)
	for range (s.size + 1) / 2 {
		a, b := s.copyOf(s.tournament(parents)), s.copyOf(s.tournament(parents))
		s.mix(a, b)
		for _, x := range [][]int{a, b} {
			s.mutate(x)
			s.add(x)
		}
	}
}

// mix exchanges each row with even chance.
func (s *search) mix(a, b []int) {
	columns := len(s.p.Most)
	for row := range s.p.Rows {
		if s.r.IntN(2) == 0 {
			continue
		}
		for i := row * columns; i < (row+1)*columns; i++ {
			a[i], b[i] = b[i], a[i]
		}
	}
}

// tournament returns the fitter of two of the parents.
func (s *search) tournament(parents int) []int {
	return s.all[min(s.r.IntN(parents), s.r.IntN(parents))].x
}

// mutate changes a matrix as the problem says.
func (s *search) mutate(x []int) {
	if s.p.Mutate != nil {
		s.p.Mutate(x, s.r)
		return
	}
	columns := len(s.p.Most)
	chance := 1 / float64(columns)
	for i := range x {
		if s.r.Float64() < chance {
			x[i] = s.r.IntN(s.p.Most[i%columns] + 1)
		}
	}
}

// add repairs a matrix and takes it up.
func (s *search) add(x []int) {
	if s.p.Repair != nil {
		s.p.Repair(x, s.r)
	}
	s.all = append(s.all, candidate{x, s.p.Fitness(x)})
	s.result.Evaluated++
}

// survive keeps the fittest, each once; of equals those that were there before.
func (s *search) survive() {
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

// has reports whether c is among the first n, which are sorted.
func (s *search) has(n int, c candidate) bool {
	for i := n - 1; i >= 0 && s.all[i].fitness == c.fitness; i-- {
		if slices.Equal(s.all[i].x, c.x) {
			return true
		}
	}
	return false
}

// copyOf returns a copy, in the memory of one that died if there is any.
func (s *search) copyOf(x []int) []int {
	last := len(s.spare) - 1
	if last < 0 {
		return slices.Clone(x)
	}
	y := s.spare[last]
	s.spare = s.spare[:last]
	copy(y, x)
	return y
}
