package draws

import (
	"hash/fnv"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
)

// Long reports whether tests should use all inputs, because OXGANG_LONG is set.
func Long() bool { return os.Getenv("OXGANG_LONG") != "" }

// Some returns n elements of all, in order. RAPID_SEED and the test's name decide which; without a seed they are
// random, and the seed is logged. With -short it returns a quarter of n, at least one. It returns all if Long or
// if there are at most n.
func Some[T any](t testing.TB, n int, all []T) []T {
	t.Helper()
	if testing.Short() {
		n = max(1, n/4)
	}
	if Long() || n >= len(all) {
		return all
	}
	seed := Seed(t)
	at := rand.New(rand.NewPCG(seed, 0)).Perm(len(all))[:n]
	slices.Sort(at)
	some := make([]T, n)
	for i, k := range at {
		some[i] = all[k]
	}
	t.Logf("uses these of %d, counted from 0: %v", len(all), at)
	return some
}

const seedVariable = "RAPID_SEED"

// Seed returns a number that depends on RAPID_SEED and the test's name; random without RAPID_SEED.
func Seed(t testing.TB) uint64 {
	t.Helper()
	seed, err := strconv.ParseUint(os.Getenv(seedVariable), 10, 64)
	if err != nil {
		seed = rand.Uint64()
		t.Logf("%s=%d repeats this selection", seedVariable, seed)
	}
	h := fnv.New64a()
	h.Write([]byte(t.Name()))
	return seed ^ h.Sum64()
}
