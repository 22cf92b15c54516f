package trace

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/scheduler/metrics"
)

// Quantiles are those of all durations sorted, whenever they were counted.
func TestTally(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var counted tally
		var all []time.Duration
		for _, n := range rapid.SliceOfN(rapid.IntRange(1, 30), 0, 80).Draw(t, "durations") {
			d := time.Duration(n) * time.Second
			counted.add(d)
			all = append(all, d)
			if n%7 == 0 {
				counted.settle()
			}
		}
		got := counted.quantiles()
		if len(all) == 0 {
			if got != (Quantiles{}) {
				t.Fatalf("of none %v", got)
			}
			return
		}
		slices.Sort(all)
		mean := 0.0
		for i, x := range all {
			mean += (float64(x) - mean) / float64(i+1)
		}
		at := func(percent int) time.Duration { return metrics.Quantile(all, float64(percent)/100) }
		if want := (Quantiles{time.Duration(mean), all[0], at(10), at(50), at(90), at(99), all[len(all)-1]}); got != want {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}

// Durations that are alike are kept once.
func TestTally_keeps_each_once(t *testing.T) {
	var counted tally
	for i := range 3 * mostRecent {
		counted.add(time.Duration(i % 100))
	}
	if counted.count != 3*mostRecent || len(counted.values) != 100 || len(counted.recent) != 0 {
		t.Errorf("%d durations as %d values and %d recent ones, want all as 100", counted.count, len(counted.values), len(counted.recent))
	}
}
