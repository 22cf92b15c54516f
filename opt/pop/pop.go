package pop

import (
	"cmp"
	"slices"
)

// Split divides the numbers 0 to n-1 among k parts, each sorted. Without weights it is random, with sizes that differ
// by at most 1. With weights the heaviest goes first, to the lightest part. It is deterministic, costs n log n + n k,
// and panics if k < 1 or n < 0.
//
// Source: thesis §4.1 ("randomly partitioning the set of resources and requests"), §5.2.2.
func Split(n, k int, weight func(i int) float64, seed uint64) [][]int {
	if k < 1 || n < 0 {
		panic("pop: want k >= 1 and n >= 0")
	}
	parts := make([][]int, k)
	order := Shuffled(n, seed)
	if weight == nil {
		for place, i := range order {
			parts[place%k] = append(parts[place%k], i)
		}
	} else {
		byWeight(parts, order, weight)
	}
	for _, p := range parts {
		slices.Sort(p)
	}
	return parts
}

func byWeight(parts [][]int, order []int, weight func(i int) float64) {
	heavy := make([]float64, len(order))
	for i := range heavy {
		heavy[i] = weight(i)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(heavy[b], heavy[a]) })
	load := make([]float64, len(parts))
	for _, i := range order {
		p := Least(load, func(p int) int { return len(parts[p]) })
		parts[p] = append(parts[p], i)
		load[p] += heavy[i]
	}
}

// Least returns the part with the smallest load; of equal ones the part with fewest members, then the lowest index.
// It panics without parts.
func Least(load []float64, members func(part int) int) int {
	best := 0
	for p := 1; p < len(load); p++ {
		if c := cmp.Compare(load[p], load[best]); c < 0 || c == 0 && members(p) < members(best) {
			best = p
		}
	}
	return best
}

// Shuffled returns 0 to n-1 in a pseudorandom order that is the same on every machine.
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

// A Piece is a client (a job, for example) or a fraction of one.
type Piece struct {
	Of    int     // the client
	Share float64 // 1, or 1/ways
}

// SplitClients divides each client above the threshold into ways equal pieces, and keeps the others whole, in order.
// It panics if ways < 1.
//
// Source: thesis §5.2.2 ("4-way client-splitting for large demands").
func SplitClients(weights []float64, threshold float64, ways int) []Piece {
	if ways < 1 {
		panic("pop: want ways >= 1")
	}
	pieces := make([]Piece, 0, len(weights))
	for i, w := range weights {
		n := 1
		if w > threshold {
			n = ways
		}
		for range n {
			pieces = append(pieces, Piece{Of: i, Share: 1 / float64(n)})
		}
	}
	return pieces
}
