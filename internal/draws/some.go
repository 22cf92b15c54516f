package draws

import (
	"hash/fnv"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
)

// Long reports whether tests should look at everything that they can: OXGANG_LONG is set, as "make
// long" does.
func Long() bool { return os.Getenv("OXGANG_LONG") != "" }

// Some returns n of all, in their order: the part of a large set that a test looks at. RAPID_SEED
// and the test's name decide which; without a seed it is random, and the seed that repeats it is
// logged. With -short it is a quarter of n, and at least one. Some returns all if there are no more than
// n, or if Long. So "make test" looks at the same part on every machine, "make check" at more, "make
// seeds" at another part each time, and "make long" at everything.
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
	t.Logf("looks at these of %d, from 0 on: %v", len(all), at)
	return some
}

// seedVariable is what rapid reads its seed from.
const seedVariable = "RAPID_SEED"

// Seed returns a number that RAPID_SEED and the test's name determine, and a new one each time
// where there is no RAPID_SEED.
func Seed(t testing.TB) uint64 {
	t.Helper()
	seed, err := strconv.ParseUint(os.Getenv(seedVariable), 10, 64)
	if err != nil {
		seed = rand.Uint64()
		t.Logf("%s=%d draws the same again", seedVariable, seed)
	}
	h := fnv.New64a()
	h.Write([]byte(t.Name()))
	return seed ^ h.Sum64()
}
