package forecast

import (
	"math"
	"testing"

	"github.com/oxgang/oxgang/internal/rng"
)

// From many pairs a regression learns the coefficients; from none it expects 0.
func TestRegression(t *testing.T) {
	r := rng.Stream(1, "test")
	truth := [clues]float64{0.9, -0.4, 0, 2}
	fit := regression{keep: 1, prior: 5}
	if b := fit.coefficients(); b != [clues]float64{} {
		t.Errorf("before any pair: %v, want zeros", b)
	}
	for range 100_000 {
		x, y := [clues]float64{}, 0.01*r.NormFloat64()
		for i := range x {
			x[i] = r.NormFloat64()
			y += truth[i] * x[i]
		}
		fit.observe(x, y)
	}
	for i, b := range fit.coefficients() {
		if math.Abs(b-truth[i]) > 1e-3 {
			t.Errorf("coefficient %d: got %g, want %g", i, b, truth[i])
		}
	}
}

// One clue that is always there: least squares with as much doubt as evidence
// halves the coefficient, and the clues that never come count for nothing.
func TestRegression_doubts(t *testing.T) {
	fit := regression{keep: 1, prior: 5}
	for range 5 {
		fit.observe([clues]float64{0.1}, 0.1)
	}
	for i, b := range fit.coefficients() {
		if want := map[int]float64{0: 0.5}[i]; math.Abs(b-want) > 1e-9 {
			t.Errorf("coefficient %d: got %g, want %g", i, b, want)
		}
	}
	if got := fit.expect([clues]float64{0.2, 7}); math.Abs(got-0.1) > 1e-9 {
		t.Errorf("expects %g, want 0.1", got)
	}
}

// Old pairs are forgotten.
func TestRegression_forgets(t *testing.T) {
	fit := regression{keep: 0.9}
	for i := range 200 {
		fit.observe([clues]float64{1}, float64(i/100)) // 0, then 1
	}
	if b := fit.coefficients(); math.Abs(b[0]-1) > 1e-3 {
		t.Errorf("coefficient %g, want 1", b[0])
	}
}
