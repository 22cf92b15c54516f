package draws

import (
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// inputs returns how many inputs rapid draws now.
func inputs(t *testing.T) int {
	t.Helper()
	n := 0
	rapid.Check(t, func(t *rapid.T) { rapid.Bool().Draw(t, "any"); n++ })
	return n
}

// As many inputs are drawn as a test needs, and afterwards as many as before.
func TestAtLeast(t *testing.T) {
	before := inputs(t)
	for _, tc := range []struct {
		short, checks string
		n, want       int
	}{
		{"false", "100", 321, 321},
		{"true", "100", 321, 321},
		{"false", "1000", 321, 1000},
		{"true", "1000", 321, 321},
		{"true", "2000", 321, 400},
	} {
		t.Run(tc.short+" "+tc.checks, func(t *testing.T) {
			with(t, "test.short", tc.short)
			with(t, "rapid.checks", tc.checks)
			t.Run("needs some", func(t *testing.T) {
				AtLeast(t, tc.n)
				if got := inputs(t); got != tc.want {
					t.Errorf("%d inputs, want %d", got, tc.want)
				}
			})
			if got := flag.Lookup("rapid.checks").Value.String(); got != tc.checks {
				t.Errorf("rapid.checks is %s afterwards, want %s", got, tc.checks)
			}
		})
	}
	if after := inputs(t); after != before {
		t.Errorf("%d inputs afterwards, want %d", after, before)
	}
}

// with sets a flag until the test ends.
func with(t *testing.T, name, value string) {
	t.Helper()
	f := flag.Lookup(name)
	was := f.Value.String()
	t.Cleanup(func() { set(t, f, was) })
	set(t, f, value)
}

// Some draws the same with a seed, other things with another, nothing twice, and all if it is long.
func TestSome(t *testing.T) {
	all := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	with(t, "test.short", "false")
	t.Setenv("OXGANG_LONG", "")
	t.Setenv("RAPID_SEED", "1")
	first := Some(t, 4, all)
	if len(first) != 4 || !slices.IsSorted(first) || len(slices.Compact(slices.Clone(first))) != 4 {
		t.Errorf("got %v, want 4 different ones in order", first)
	}
	if again := Some(t, 4, all); !slices.Equal(first, again) {
		t.Errorf("with one seed got %v, then %v", first, again)
	}
	seen := map[int]bool{}
	for seed := range 40 {
		t.Setenv("RAPID_SEED", strconv.Itoa(seed))
		for _, k := range Some(t, 1, all) {
			seen[k] = true
		}
	}
	if len(seen) != len(all) {
		t.Errorf("40 seeds drew %v, want each of ten", seen)
	}
	t.Setenv("RAPID_SEED", "")
	if one, other := Seed(t), Seed(t); one == other {
		t.Error("without a seed two draws are the same")
	}
	with(t, "test.short", "true")
	if got := Some(t, 8, all); len(got) != 2 {
		t.Errorf("short: got %v, want a quarter of 8", got)
	}
	t.Setenv("OXGANG_LONG", "1")
	if got := Some(t, 4, all); !slices.Equal(got, all) {
		t.Errorf("got %v, want all", got)
	}
}

// A logger keeps what a test logs.
type logger struct {
	testing.TB
	text string
}

func (l *logger) Logf(format string, args ...any) { l.text += fmt.Sprintf(format, args...) }

// A draw without a seed logs the one that draws the same again.
func TestSeed_is_logged(t *testing.T) {
	t.Setenv("RAPID_SEED", "")
	l := &logger{TB: t}
	drawn := Seed(l)
	seed, rest, ok := strings.Cut(strings.TrimPrefix(l.text, "RAPID_SEED="), " ")
	if !ok || !strings.HasPrefix(rest, "repeats") {
		t.Fatalf("logged %q, want a seed", l.text)
	}
	t.Setenv("RAPID_SEED", seed)
	if again := Seed(t); again != drawn {
		t.Errorf("RAPID_SEED=%s draws %d, want %d", seed, again, drawn)
	}
}
