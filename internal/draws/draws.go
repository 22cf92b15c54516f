// Package draws says how many random inputs a test needs, where it checks not only that
// each is right but also that something rare was among them. Rapid draws 100 inputs, or
// what RAPID_CHECKS says, and with -short a fifth of that: too few for what is in one input
// of 24, which 20 inputs lack 4 times in 10. Whether such a test passes must not depend
// on the seed. It also chooses what of too much a test looks at: Some.
package draws

import (
	"flag"
	"strconv"
	"testing"
)

// AtLeast makes rapid draw n valid inputs or more for each property of a test and its subtests,
// with -short too. If what is to be seen is in a share p of the inputs, a test misses it once
// in (1-p)^-n times: say the p that was measured where AtLeast is called. Tests that call
// it are not parallel.
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
