// Package genetic searches matrices of whole numbers for one of high fitness: a
// population of matrices is crossed, mutated and repaired, and the fittest live on.
// It finds good matrices and proves nothing. The fitness may be any function.
//
// A generation, after Pollux §4.2.1:
//
//	tournament   a parent is the fitter of two drawn at random
//	crossover    two children have each row from one of two parents, at random
//	mutation     each element becomes a random value, on average one in each row, or as the caller has it
//	repair       the caller changes matrices that are not allowed into allowed ones
//	survival     the fittest of parents and children, each matrix once
//
// All random numbers come from a Source that is handed in, so that equal inputs give
// equal outputs.
package genetic
