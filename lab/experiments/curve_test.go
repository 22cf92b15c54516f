package experiments

import (
	"math"
	"testing"
)

func TestGainComparesCurvesAtEqualBudget(t *testing.T) {
	ours := []point{{10, 5}, {20, 2}, {40, 1.5}, {90, 1}}
	other := []point{{10, 6}, {30, 4}, {50, 3}}
	for _, c := range []struct {
		least bool
		want  float64
	}{{false, 2.5}, {true, 1.2}} {
		if got := gain(ours, other, c.least); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("least %v: gain %g, want %g", c.least, got, c.want)
		}
	}
	// The other's point at 50 counts, where ours has none.
	if got := gain([]point{{10, 3}, {90, 3}}, other, true); got != 1 {
		t.Errorf("gain %g, want 1: at 50", got)
	}
	if got := gain(ours, []point{{95, 1}}, false); got != 0 {
		t.Errorf("gain over a point beyond ours %g, want 0", got)
	}
}

func TestAlongWantsACurve(t *testing.T) {
	for _, check := range []string{
		"{run: a, over: [b, c], along: no_metric, published: {done: 1}}",
		"{run: a, over: b, along: done, published: {done: 1}}",
	} {
		text := "title: x\nruns:\n  - {name: a, policy: fifo}\n  - {name: b, policy: fifo}\n  - {name: c, policy: fifo}\nchecks:\n  - " + check
		if _, err := parse("x", []byte(text)); err == nil {
			t.Errorf("%s: no error", check)
		}
	}
}
