package pop_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/opt/pop"
)

// Everything is in one part, parts are as equal as they can be, and the same
// arguments give the same parts.
func TestSplit(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n, k := rapid.IntRange(0, 200).Draw(r, "n"), rapid.IntRange(1, 20).Draw(r, "k")
		seed := rapid.Uint64().Draw(r, "seed")
		weights := rapid.SliceOfN(rapid.Float64Range(0, 1000), n, n).Draw(r, "weights")
		var weight func(int) float64
		if rapid.Bool().Draw(r, "weighted") {
			weight = func(i int) float64 { return weights[i] }
		}
		parts := pop.Split(n, k, weight, seed)
		if again := pop.Split(n, k, weight, seed); fmt.Sprint(parts) != fmt.Sprint(again) {
			r.Fatalf("%v, then %v", parts, again)
		}
		all := slices.Sorted(slices.Values(slices.Concat(parts...)))
		if len(parts) != k || !slices.Equal(all, slices.Sorted(slices.Values(pop.Shuffled(n, seed)))) {
			r.Fatalf("%d parts of %v, want %d of 0 to %d", len(parts), all, k, n-1)
		}
		size := func(p int) float64 { return float64(len(parts[p])) }
		most := 1.0
		if weight != nil {
			size = func(p int) (sum float64) {
				for _, i := range parts[p] {
					sum += weights[i]
				}
				return sum
			}
			most = slices.Max(append(weights, 0)) + 1e-9
		}
		low, up := math.Inf(1), 0.0
		for p := range parts {
			low, up = min(low, size(p)), max(up, size(p))
			if !slices.IsSorted(parts[p]) {
				r.Fatalf("part %v is not in order", parts[p])
			}
		}
		if up-low > most {
			r.Fatalf("parts of %v to %v, want to differ by %v at most", low, up, most)
		}
	})
}

// Thesis §4.1: POP partitions randomly. Neighbours fall into the same of 10 parts
// about once in 10.
func TestSplit_is_random(t *testing.T) {
	const n, k = 10_000, 10
	part := make([]int, n)
	for p, members := range pop.Split(n, k, nil, 1) {
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
	if fmt.Sprint(pop.Split(n, k, nil, 1)) == fmt.Sprint(pop.Split(n, k, nil, 2)) {
		t.Error("two seeds give the same parts")
	}
}

func TestSplitClients(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		weights := rapid.SliceOf(rapid.Float64Range(0, 10)).Draw(r, "weights")
		ways := rapid.IntRange(1, 8).Draw(r, "ways")
		share, pieces := make([]float64, len(weights)), make([]int, len(weights))
		for _, p := range pop.SplitClients(weights, 5, ways) {
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

// Five demands in two parts: that of 40 is split into four, so that neither part
// has to carry it alone.
func ExampleSplitClients() {
	demands := []float64{3, 40, 5, 2, 4}
	pieces := pop.SplitClients(demands, 10, 4)
	size := func(i int) float64 { return demands[pieces[i].Of] * pieces[i].Share }
	for _, part := range pop.Split(len(pieces), 2, size, 1) {
		total := 0.0
		for _, i := range part {
			total += size(i)
		}
		fmt.Println(len(part), "pieces of", total, "in total")
	}
	// Output:
	// 4 pieces of 27 in total
	// 4 pieces of 27 in total
}

func BenchmarkSplit(b *testing.B) { // the demands of Kdl, thesis §5.2.2
	for b.Loop() {
		pop.Split(332_141, 64, func(i int) float64 { return float64(i % 97) }, 1)
	}
}
