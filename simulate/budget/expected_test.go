package budget

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestExpect_holds: of values of one log-normal distribution the range after n of them holds the
// next one nine times of ten, however many there were.
func TestExpect_holds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	draw := func() float64 { return math.Exp(7 + 0.3*r.NormFloat64()) }
	for _, n := range []int{2, 3, 8, MostSamples} {
		held := 0
		for range 20_000 {
			means := make([]float64, n)
			for i := range means {
				means[i] = draw()
			}
			e := Expect(means)
			if next := draw(); e.Low <= next && next <= e.High {
				held++
			}
		}
		if part := float64(held) / 20_000; part < 0.89 || part > 0.91 {
			t.Errorf("after %d values: holds %.3f, want 0.9", n, part)
		}
	}
}

// TestExpect_says_nothing where there is nothing to say, and no more than it knows.
func TestExpect_says_nothing(t *testing.T) {
	for _, means := range [][]float64{nil, {1}, {1, 0}, {1, math.NaN()}, {1, math.Inf(1)}, make([]float64, MostSamples+1)} {
		if e := Expect(means); e != nil {
			t.Errorf("%v: %+v, want none", means, e)
		}
	}
	if got := (*Range)(nil).words(); got != "not simulated" {
		t.Errorf("got %q", got)
	}
	if got := Expect([]float64{3600, 3600, 3600}).words(); !strings.HasPrefix(got, "1h0m0s to 1h0m0s (90 % interval from 3 simulations with the jobs in other orders)") {
		t.Errorf("got %q", got)
	}
}
