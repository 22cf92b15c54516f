package rounds

import (
	"slices"

	"github.com/oxgang/oxgang/opt/engine"
)

// A Weight is the fraction of a job that a relaxed solution assigns to the configuration with index Choice.
type Weight = engine.Weight

// Shim rounds a fractional solution to one configuration per job that fits, or -1 for none; see engine.Shim. It sorts
// the weights.
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
