// Package rng makes named random streams: one per purpose and per job, so that a new
// stream, or another policy, does not change what other streams draw.
package rng

import (
	"hash/fnv"
	"math/rand/v2"
)

// Stream returns the random stream of a name ("noise/job-17") under a seed.
// Equal arguments give equal streams, on every machine.
func Stream(seed uint64, name string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(name)) // never fails
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}
