// Package rng provides named random streams, so that a new stream or another policy does not change the numbers of
// other streams.
package rng

import (
	"hash/fnv"
	"math/rand/v2"
)

// Stream returns the random stream for a name ("noise/job-17") and a seed.
func Stream(seed uint64, name string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(name))
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}
