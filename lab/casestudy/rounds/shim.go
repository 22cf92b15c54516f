package rounds

import (
	"slices"

	"github.com/oxgang/oxgang/opt/engine"
)

// A Weight is the fraction of a job that a relaxed solution assigns to the configuration with index Choice.
type Weight = engine.Weight

// Shim rounds a fractional solution: it returns the index of one configuration per job, or -1, such that all fit into
// capacity (GPUs by type). It sorts weights in place. See engine.Shim.
func Shim(weights [][]Weight, configs []Config, capacity []int) []int {
	left := slices.Clone(capacity)
	return engine.Shim(weights, nil, func(_, choice int) bool {
		c := configs[choice]
		if c.GPUs > left[c.Type] {
			return false
		}
		left[c.Type] -= c.GPUs
		return true
	})
}
