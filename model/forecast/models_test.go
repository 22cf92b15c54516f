package forecast_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/model/forecast"
	"github.com/oxgang/oxgang/simulate/workload"
)

// made returns one model of each kind, the network trained on noise.
func made(t testing.TB, day int) map[string]forecast.Model {
	r := rng.Stream(1, "test")
	noise := make([]float64, 40)
	for i := range noise {
		noise[i] = r.Float64()
	}
	o := lstmOptions{Hidden: 4, Epochs: 2, Batch: 8, Rate: 0.01}
	all := map[string]forecast.Model{"lstm": trained(t, curve{"noise", day, noise, nil}, o)}
	for _, m := range models {
		all[m.name] = m.make(day)
	}
	return all
}

// Whatever a model is told, its forecasts are shares with standard deviations,
// asking changes nothing, and a longer one begins as a shorter one.
func TestModels_keep_the_rules(t *testing.T) {
	value := rapid.OneOf(rapid.Float64Range(0, 1), rapid.Just(0.5), rapid.Float64(), rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1)}))
	rapid.Check(t, func(r *rapid.T) {
		day := rapid.IntRange(-1, 30).Draw(r, "day")
		told := rapid.SliceOfN(value, 0, 100).Draw(r, "told")
		ahead := rapid.IntRange(0, 50).Draw(r, "ahead")
		for name, m := range made(t, day) {
			shown(m, told)
			f := m.Predict(ahead)
			if len(f.Mean) != ahead || len(f.SD) != ahead {
				r.Fatalf("%s: %d means and %d deviations, want %d", name, len(f.Mean), len(f.SD), ahead)
			}
			for i := range ahead {
				if !(f.Mean[i] >= 0 && f.Mean[i] <= 1) || !(f.SD[i] >= 0 && f.SD[i] <= 0.5) {
					r.Fatalf("%s: %g ± %g, %d steps ahead", name, f.Mean[i], f.SD[i], i+1)
				}
				if u := upper(f, i, 2); !(u >= f.Mean[i] && u <= 1) {
					r.Fatalf("%s: upper %g of mean %g", name, u, f.Mean[i])
				}
			}
			again := m.Predict(ahead / 2)
			if diff := cmp.Diff(f.Mean[:ahead/2], again.Mean) + cmp.Diff(f.SD[:ahead/2], again.SD); diff != "" {
				r.Fatalf("%s: asked again for half as much: %s", name, diff)
			}
		}
	})
}

// Values that are none count as the nearest ones.
func TestModels_clean_values(t *testing.T) {
	good, bad := made(t, 4), made(t, 4)
	for name := range good {
		shown(good[name], []float64{0.5, 0.5, 1, 0, 0.3, 0.3})
		shown(bad[name], []float64{0.5, math.NaN(), math.Inf(1), -3, 0.3, math.NaN()})
		if diff := cmp.Diff(good[name].Predict(5), bad[name].Predict(5)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// Before the first value a forecast lets nobody rely on idle GPUs.
func TestModels_know_nothing_at_first(t *testing.T) {
	for _, m := range models {
		f := m.make(288).Predict(2)
		if diff := cmp.Diff(forecast.Forecast{Mean: []float64{0.5, 0.5}, SD: []float64{0.5, 0.5}}, f); diff != "" || upper(f, 0, 1.645) != 1 {
			t.Errorf("%s: %s", m.name, diff)
		}
	}
}

// A curve that never moves is predicted, and soon with certainty.
func TestModels_on_a_flat_curve(t *testing.T) {
	flat := make([]float64, 20*48)
	for i := range flat {
		flat[i] = 0.7
	}
	for name, m := range made(t, 48) {
		f := shown(m, flat).Predict(48)
		for i := range f.Mean {
			if name == "lstm" {
				continue // it was trained on another
			}
			if math.Abs(f.Mean[i]-0.7) > 1e-6 || f.SD[i] > 0.02 {
				t.Fatalf("%s: %g ± %g, %d steps ahead, want 0.7 ± 0", name, f.Mean[i], f.SD[i], i+1)
			}
		}
	}
}

func TestLast(t *testing.T) {
	f := shown(forecast.NewLast(3), []float64{0.1, 0.4}).Predict(4)
	if diff := cmp.Diff([]float64{0.4, 0.4, 0.4, 0.4}, f.Mean); diff != "" {
		t.Error(diff)
	}
}

func TestSeasonalNaive(t *testing.T) {
	m := shown(forecast.NewSeasonalNaive(3), []float64{0.1, 0.4})
	for _, tc := range []struct {
		what string
		want []float64
	}{
		{"the first day, as Last", []float64{0.4, 0.4, 0.4, 0.4}},
		{"one day over", []float64{0.1, 0.4, 0.2, 0.1}},
		{"the next day", []float64{0.4, 0.2, 0.9, 0.4}},
	} {
		if diff := cmp.Diff(tc.want, m.Predict(4).Mean); diff != "" {
			t.Errorf("%s: %s", tc.what, diff)
		}
		m.Observe(map[string]float64{"the first day, as Last": 0.2, "one day over": 0.9}[tc.what])
	}
}

// What the last value was off by in the first day is not held against the day
// before, which is the same.
func TestSeasonalNaive_starts_anew(t *testing.T) {
	f := shown(forecast.NewSeasonalNaive(288), wave(288, 2, 0)).Predict(288)
	if f.SD[143] > 0.1 {
		t.Errorf("deviation %g 12 hours ahead, want at most 0.1", f.SD[143])
	}
}

func TestMSE(t *testing.T) {
	m := shown(forecast.NewLast(3), []float64{0.5})
	if got, want := mse(m, []float64{0.6, 0.4}), (0.01+0.04)/2; math.Abs(got-want) > 1e-15 {
		t.Errorf("got %g, want %g", got, want)
	}
	if got := mse(m, nil); got != 0 {
		t.Errorf("of nothing %g, want 0", got)
	}
	if got := m.Predict(1).Mean[0]; got != 0.4 {
		t.Errorf("after it the last value is %g, want 0.4", got)
	}
}

// upper returns the mean plus z standard deviations, at most 1.
func upper(f forecast.Forecast, i int, z float64) float64 {
	return forecast.Share(f.Mean[i] + z*f.SD[i])
}

// Every 5 minutes, for 15 days: what is allocated is the forecast alone.
func TestSeasonal_observes_without_allocating(t *testing.T) {
	m := shown(forecast.NewSeasonal(288), workload.Diurnal(1, 2).Busy)
	if got := testing.AllocsPerRun(600, func() { m.Observe(0.5) }); got != 0 {
		t.Errorf("%g allocations a value, want none", got)
	}
}
