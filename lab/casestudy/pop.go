package casestudy

import (
	"slices"

	"github.com/oxgang/oxgang/internal/rng"
)

// Split assigns the numbers 0 to n-1 at random to k parts, each sorted, with sizes that differ by at most 1. Equal
// seeds give equal parts. It takes n log n, and panics if k < 1 or n < 0.
//
// Source: thesis §4.1 ("randomly partitioning the set of resources and requests", POP), §5.2.2.
func Split(n, k int, seed uint64) [][]int {
	if k < 1 || n < 0 {
		panic("casestudy: want k >= 1 and n >= 0")
	}
	parts := make([][]int, k)
	for place, i := range rng.Shuffled(n, seed) {
		parts[place%k] = append(parts[place%k], i)
	}
	for _, p := range parts {
		slices.Sort(p)
	}
	return parts
}

// A Piece is a client, or one of the equal pieces into which a client is split.
type Piece struct {
	Of    int     // index of the client
	Share float64 // of the client, 0 to 1
}

// SplitClients splits each client whose weight is above threshold into as many equal pieces as ways states; any other
// client is one piece. It returns all pieces in the order of the clients, and panics if ways < 1. Source: thesis §5.2.2
// ("4-way client-splitting for large demands").
func SplitClients(weights []float64, threshold float64, ways int) []Piece {
	if ways < 1 {
		panic("casestudy: want ways >= 1")
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
