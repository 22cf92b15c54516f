package forecast_test

import (
	"math"
	"testing"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/model/forecast"
	"github.com/oxgang/oxgang/simulate/workload"
)

// wave is a curve of days that are all alike, plus noise.
func wave(day, days int, noise float64) []float64 {
	r := rng.Stream(1, "test")
	var all []float64
	for i := range day * days {
		all = append(all, 0.6+0.3*math.Sin(2*math.Pi*float64(i)/float64(day))+noise*r.NormFloat64())
	}
	return all
}

func TestSeasonal_learns_a_day(t *testing.T) {
	busy := wave(288, 4, 0)
	f := shown(forecast.NewSeasonal(288), busy[:3*288]).Predict(288)
	for i := range f.Mean {
		if e := f.Mean[i] - busy[3*288+i]; math.Abs(e) > 1e-3 {
			t.Fatalf("%d steps ahead: off by %g, want at most 0.001", i+1, e)
		}
	}
}

// Within the first day it is no worse than the last value, where that is good,
// and better where noise is to be averaged and a trend to be followed.
func TestSeasonal_in_the_first_day(t *testing.T) {
	for name, busy := range map[string][]float64{
		"diurnal":      workload.Diurnal(1, 1).Busy,
		"no noise":     wave(288, 1, 0),
		"little noise": wave(288, 1, 0.005),
	} {
		naive := mse(shown(forecast.NewLast(288), busy[:1]), busy[1:])
		ours := mse(shown(forecast.NewSeasonal(288), busy[:1]), busy[1:])
		if t.Logf("%s: %.6f, last value %.6f", name, ours, naive); ours > naive {
			t.Errorf("%s: mean squared error %g, that of the last value %g", name, ours, naive)
		}
	}
}

// A day that is not like others is followed: two hours after a step the forecast
// of the next five minutes is right again, and that of the next day half so.
func TestSeasonal_follows_a_step(t *testing.T) {
	busy := wave(288, 7, 0.01)
	m := shown(forecast.NewSeasonal(288), busy[:6*288])
	for i, b := range busy[6*288 : 6*288+24] {
		m.Observe(b - 0.15)
		if off := m.Predict(1).Mean[0] - (busy[6*288+i+1] - 0.15); i >= 12 && math.Abs(off) > 0.06 {
			t.Errorf("%d steps after the step: off by %g", i+1, off)
		}
	}
}

// Standard deviations grow with the horizon, from the first forecast on, and
// shrink as days are seen.
func TestSeasonal_deviations(t *testing.T) {
	m, before := forecast.NewSeasonal(288), math.Inf(1)
	busy := workload.Diurnal(3, 12).Busy
	for day := range 12 {
		f := m.Predict(288)
		for i := 1; i < 288; i++ {
			if f.SD[i] < f.SD[i-1] {
				t.Fatalf("day %d: %g after %g", day, f.SD[i], f.SD[i-1])
			}
		}
		if day == 0 || day == 2 || day == 11 {
			if t.Logf("day %d: %.4f for 5 minutes, %.4f for 12 hours", day, f.SD[0], f.SD[143]); f.SD[143] >= before {
				t.Errorf("12 hours ahead %g, before %g", f.SD[143], before)
			}
			before = f.SD[143]
		}
		shown(m, busy[day*288:(day+1)*288])
	}
}

// Of values not seen, about 95 % lie below mean + 1.645 deviations and 97.7 %
// below mean + 2: a step, 6 and 12 hours ahead, over days 5 to 15 of eight curves.
func TestSeasonal_is_calibrated(t *testing.T) {
	sum := map[int]*record{}
	for seed := range uint64(8) {
		busy := workload.Diurnal(100+seed, 15).Busy
		for _, r := range horizons(shown(forecast.NewSeasonal(288), busy[:4*288]), busy[4*288:], 1, 12, 72, 144, 288) {
			if sum[r.horizon] == nil {
				sum[r.horizon] = &record{}
			}
			s := sum[r.horizon]
			s.merge(&r)
			if r.below95 < 0.88 || r.below2 < 0.93 {
				t.Errorf("seed %d, %d steps ahead: %.3f and %.3f", seed, r.horizon, r.below95, r.below2)
			}
		}
	}
	for h, s := range sum {
		if t.Logf("%3d steps ahead: %.3f below 1.645, %.3f below 2", h, s.below95, s.below2); s.below95 < 0.93 || s.below95 > 0.985 || s.below2 < 0.96 {
			t.Errorf("%d steps ahead: %.3f and %.3f, want about 0.95 and 0.977", h, s.below95, s.below2)
		}
	}
}
