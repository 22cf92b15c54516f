// Package draws sets how many random inputs a test uses. The library rapid draws 100 inputs, or RAPID_CHECKS, and a
// fifth with -short; tests for rare cases need more (AtLeast). Some chooses a part of a large set.
package draws

import (
	"flag"
	"strconv"
	"testing"
)

// AtLeast makes each property of a test use at least n valid random inputs, also with -short. If a share p of inputs
// has a property, the test misses it with probability (1-p)^n. Tests that call it must not be parallel.
func AtLeast(t testing.TB, n int) {
	t.Helper()
	checks := flag.Lookup("rapid.checks")
	if checks == nil {
		t.Fatal("no flag rapid.checks: the test does not use rapid")
	}
	was := checks.Value.String()
	if testing.Short() {
		n *= 5 // rapid draws a fifth of it
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
