package shares

import (
	"iter"
	"math/bits"
)

// A set is a set of positions.
type set struct {
	words []uint64
	n     int
}

func newSet(size int) set { return set{words: make([]uint64, (size+63)/64)} }

func (s *set) add(i int)    { s.words[i/64] |= 1 << (i % 64); s.n++ }
func (s *set) remove(i int) { s.words[i/64] &^= 1 << (i % 64); s.n-- }

func (s *set) clear() {
	if s.n > 0 {
		clear(s.words)
		s.n = 0
	}
}

// all yields the positions in ascending order.
func (s *set) all() iter.Seq[int] {
	return func(yield func(int) bool) {
		for w, word := range s.words {
			for ; word != 0; word &= word - 1 {
				if !yield(64*w + bits.TrailingZeros64(word)) {
					return
				}
			}
		}
	}
}
