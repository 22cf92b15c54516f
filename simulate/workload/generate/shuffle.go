package generate

import (
	"cmp"
	"slices"
	"time"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/simulate/workload"
)

// Shuffle returns the jobs of a trace in another order: it divides time into blocks of equal length and shuffles the
// blocks. Jobs, and bursts shorter than a block, stay the same; only which jobs coincide changes. Thus the spread of
// results over orders shows how much they depend on coincidence. arrivals must be sorted by time, and are not modified.
// Equal seeds give equal orders.
func Shuffle(arrivals []workload.Arrival, blocks int, seed uint64) []workload.Arrival {
	if len(arrivals) == 0 || blocks < 1 {
		return nil
	}
	length := arrivals[len(arrivals)-1].At/time.Duration(blocks) + 1
	all := make([]workload.Arrival, 0, len(arrivals))
	for to, from := range rng.Stream(seed, "workload/shuffle").Perm(blocks) {
		begin := time.Duration(from) * length
		for _, a := range cameBetween(arrivals, begin, begin+length) {
			a.At += time.Duration(to)*length - begin
			all = append(all, a)
		}
	}
	return all
}

func cameBetween(all []workload.Arrival, from, to time.Duration) []workload.Arrival {
	at := func(t time.Duration) int {
		i, _ := slices.BinarySearchFunc(all, t, func(a workload.Arrival, t time.Duration) int { return cmp.Compare(a.At, t) })
		return i
	}
	return all[at(from):at(to)]
}
