package rounds

import (
	"cmp"
	"slices"
)

// A Weight is what a solution of the relaxation gives a configuration of a job.
type Weight struct {
	Config int
	X      float64 // in 0 to 1
}

// Shim makes a feasible choice for each job from the weights of a relaxed
// solution: the configuration of highest weight that fits into what is left of
// capacity (GPUs by type), else none (-1). Of equal weights the first counts.
// Weights are sorted in place. It costs n log n.
//
// Source: thesis §4.4.1, "Applying COpter".
// Deviation: jobs whose highest weight is higher choose first, because the thesis
// names no order, and a job whose weight is split could take what a whole one has.
func Shim(weights [][]Weight, configs []Config, capacity []int) []int {
	left := slices.Clone(capacity)
	order, pick := make([]int, len(weights)), make([]int, len(weights))
	for i, w := range weights {
		order[i], pick[i] = i, -1
		slices.SortStableFunc(w, func(a, b Weight) int { return cmp.Compare(b.X, a.X) })
	}
	top := func(i int) float64 {
		if len(weights[i]) == 0 {
			return 0
		}
		return weights[i][0].X
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(top(b), top(a)) })
	for _, i := range order {
		for _, w := range weights[i] {
			if c := configs[w.Config]; c.GPUs <= left[c.Type] {
				left[c.Type] -= c.GPUs
				pick[i] = w.Config
				break
			}
		}
	}
	return pick
}
