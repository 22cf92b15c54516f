package mmkp

import "math"

// memoSize is the number of entries of a memo, a power of two. A larger memo does not fit the cache, a smaller one
// forgets too much.
const memoSize = 1 << 14

// A memo maps (depth, capacity left) to the least regret with which the search reached it: reaching it again with as
// much or more cannot lead to anything better. A new state replaces the old one of its entry.
type memo struct {
	entries []entry
	rests   []float64
	k       int
	epoch   uint32 // entries of other epochs are empty
}

type entry struct {
	regret float64
	depth  int32
	epoch  uint32
}

func (m *memo) reset(k int) {
	if m.k != k || m.entries == nil || m.epoch == math.MaxUint32 {
		*m = memo{entries: make([]entry, memoSize), rests: make([]float64, memoSize*k), k: k}
	}
	m.epoch++
}

// better reports whether the state was reached before with at most this regret, and otherwise stores it.
func (m *memo) better(depth int, rest []float64, regret float64) bool {
	h := uint64(depth+1) * 0x9e3779b97f4a7c15 // odd multipliers of splitmix64
	for _, x := range rest {
		h = (h ^ math.Float64bits(x)) * 0xbf58476d1ce4e5b9
		h ^= h >> 32
	}
	at := int(h % memoSize)
	e, kept := &m.entries[at], m.rests[at*m.k:(at+1)*m.k]
	if e.epoch == m.epoch && int(e.depth) == depth && e.regret <= regret && same(kept, rest) {
		return true
	}
	*e = entry{regret, int32(depth), m.epoch}
	copy(kept, rest)
	return false
}

func same(a, b []float64) bool {
	for k := range a {
		if a[k] != b[k] {
			return false
		}
	}
	return true
}
