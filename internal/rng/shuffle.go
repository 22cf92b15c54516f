package rng

import (
	"cmp"
	"slices"
)

// Shuffled returns 0 to n-1 in a pseudorandom order: by a hash of seed and number, equal on every machine.
func Shuffled(n int, seed uint64) []int {
	order, key := make([]int, n), make([]uint64, n)
	for i := range order {
		order[i], key[i] = i, mix(seed, uint64(i))
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(key[a], key[b]), cmp.Compare(a, b)) })
	return order
}

// mix hashes with two rounds of SplitMix64's finaliser (Steele, Lea and Flood, 2014).
func mix(seed, i uint64) uint64 { return scramble(scramble(seed) + 0x9e3779b97f4a7c15*(i+1)) }

func scramble(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
