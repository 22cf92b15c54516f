package forecast

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/internal/rng"
)

func TestLadder(t *testing.T) {
	for day, want := range map[int][]int{
		1: {1}, 2: {1, 2}, 3: {1, 2, 3}, 4: {1, 2, 3, 4}, 24: {1, 2, 3, 4, 6, 8, 12, 16, 24},
		288: {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 288},
	} {
		if diff := cmp.Diff(want, ladder(day)); diff != "" {
			t.Errorf("day of %d values: %s", day, diff)
		}
	}
}

func TestBetween(t *testing.T) {
	at, value := []int{1, 2, 4}, []float64{10, 20, 40}
	rung := 0
	for h, want := range []float64{10, 20, 30, 40, 40, 40} {
		var got float64
		if got, rung = between(at, value, h+1, rung); got != want {
			t.Errorf("at %d: got %g, want %g", h+1, got, want)
		}
	}
}

// The spread agrees with a slow one that keeps all predictions and all errors.
func TestSpread_agrees_with_the_slow_one(t *testing.T) {
	const day, values, restart = 10, 60, 10
	r := rng.Stream(1, "test")
	s := NewSpread(day)
	var busy []float64
	predicted := map[[2]int]float64{} // by number of values seen and horizon
	for n := range values {
		busy = append(busy, r.Float64())
		s.Observe(busy[n])
		if n+1 == restart {
			s.restart()
		}
		for i, h := range s.at {
			predicted[[2]int{n + 1, h}] = r.Float64()
			s.predicted(i, predicted[[2]int{n + 1, h}])
		}
	}
	for i, h := range s.at {
		square, weight := s.before(h, blindSpread), float64(h)/2
		for n := h; n < values; n++ {
			if n == restart { // values seen
				square, weight = math.Min(square, s.before(h, dailySpread)), math.Min(weight, float64(h)/2)
			}
			if made := n + 1 - h; made >= restart || n < restart && made > 0 {
				e := busy[n] - predicted[[2]int{made, h}]
				square = (s.keep*weight*square + e*e) / (s.keep*weight + 1)
				weight = s.keep*weight + 1
			}
		}
		if math.Abs(square-s.square[i]) > 1e-12 || math.Abs(weight-s.weight[i]) > 1e-9 {
			t.Errorf("horizon %d: got %g of weight %g, want %g of weight %g", h, s.square[i], s.weight[i], square, weight)
		}
	}
}
