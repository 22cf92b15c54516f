package rounds

import (
	"slices"

	"github.com/oxgang/oxgang/opt/engine"
)

// A Weight is the fraction of a configuration, with index Choice, in a relaxed solution.
type Weight = engine.Weight

// Shim rounds fractions of configurations to one configuration per job that fits, -1 for none; see engine.Shim. It
// sorts the weights.
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
