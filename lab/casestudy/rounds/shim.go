package rounds

import (
	"slices"

	"github.com/oxgang/oxgang/opt/engine"
)

// A Weight is the weight of a configuration, whose index is Choice.
type Weight = engine.Weight

// Shim is engine.Shim for configurations and GPUs: choices that fit, -1 for none. It sorts the weights.
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
