// Package draws says how many random inputs a test needs that checks not only that each
// result is right, but also that something rare was among the inputs. Rapid draws 100
// inputs, or what RAPID_CHECKS says, and with -short a fifth of that. That is too few for
// a property of one input in 24: 20 inputs lack it 4 times in 10. Whether such a test
// passes must not depend on the seed. The package also chooses which part of a large set a
// test looks at: Some.
package draws

import (
	"flag"
	"strconv"
	"testing"
)

// AtLeast makes rapid draw at least n valid inputs for each property of a test and its subtests,
// with -short, too. If a share p of the inputs has what the test looks for, the test misses it with
// probability (1-p)^n; callers state the p that they measured. Tests that call it must not be
// parallel.
func AtLeast(t testing.TB, n int) {
	t.Helper()
	checks := flag.Lookup("rapid.checks")
	if checks == nil {
		t.Fatal("no flag rapid.checks: the test does not use rapid")
	}
	was := checks.Value.String()
	if testing.Short() {
		n *= 5 // of which rapid draws a fifth
	}
	if set, err := strconv.Atoi(was); err == nil {
		n = max(n, set)
	}
	set(t, checks, strconv.Itoa(n))
	t.Cleanup(func() { set(t, checks, was) })
}

func set(t testing.TB, checks *flag.Flag, n string) {
	t.Helper()
	if err := checks.Value.Set(n); err != nil {
		t.Fatal(err)
	}
}
