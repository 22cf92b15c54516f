package casestudy

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/internal/rng"
)

// Everything is in one part, parts differ by at most 1, and the same arguments give the same parts.
func TestSplit(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n, k := rapid.IntRange(0, 200).Draw(r, "n"), rapid.IntRange(1, 20).Draw(r, "k")
		seed := rapid.Uint64().Draw(r, "seed")
		parts := Split(n, k, seed)
		if again := Split(n, k, seed); fmt.Sprint(parts) != fmt.Sprint(again) {
			r.Fatalf("%v, then %v", parts, again)
		}
		all := slices.Sorted(slices.Values(slices.Concat(parts...)))
		if len(parts) != k || !slices.Equal(all, slices.Sorted(slices.Values(rng.Shuffled(n, seed)))) {
			r.Fatalf("%d parts of %v, want %d of 0 to %d", len(parts), all, k, n-1)
		}
		for _, part := range parts {
			if len(part) != n/k && len(part) != n/k+1 || !slices.IsSorted(part) {
				r.Fatalf("part %v of %d in %d, want it sorted and equal to the others by 1", part, n, k)
			}
		}
	})
}

// Thesis §4.1: POP partitions randomly. Neighbours fall into the same of 10 parts
// about once in 10.
func TestSplit_is_random(t *testing.T) {
	const n, k = 10_000, 10
	part := make([]int, n)
	for p, members := range Split(n, k, 1) {
		for _, i := range members {
			part[i] = p
		}
	}
	for _, distance := range []int{1, 2, k, 64} {
		same := 0
		for i := range n - distance {
			if part[i] == part[i+distance] {
				same++
			}
		}
		if same < 880 || same > 1_120 { // 1,000 ± 4 standard deviations of 30
			t.Errorf("distance %d: %d of %d in the same part, want about %d", distance, same, n, n/k)
		}
	}
	if fmt.Sprint(Split(n, k, 1)) == fmt.Sprint(Split(n, k, 2)) {
		t.Error("two seeds give the same parts")
	}
}

func TestSplitClients(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		weights := rapid.SliceOf(rapid.Float64Range(0, 10)).Draw(r, "weights")
		ways := rapid.IntRange(1, 8).Draw(r, "ways")
		share, pieces := make([]float64, len(weights)), make([]int, len(weights))
		for _, p := range SplitClients(weights, 5, ways) {
			share[p.Of] += p.Share
			pieces[p.Of]++
		}
		for i, w := range weights {
			want := 1
			if w > 5 {
				want = ways
			}
			if math.Abs(share[i]-1) > 1e-12 || pieces[i] != want {
				r.Fatalf("client of %v: %d pieces, %v of it, want %d, 1", w, pieces[i], share[i], want)
			}
		}
	})
}
