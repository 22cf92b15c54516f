package forecast_test

import (
	"math"
	"testing"

	"github.com/oxgang/oxgang/model/forecast"
)

// A record is how well a model predicts so many steps ahead.
type record struct {
	horizon int
	n       float64
	mse, sd float64 // the latter as predicted, squared; both in the mean
	below95 float64 // share of values below mean + 1.645 deviations
	below2  float64 // below mean + 2
}

// horizons returns the records of a model on unseen values, for some horizons,
// the longest last.
func horizons(m forecast.Model, unseen []float64, ahead ...int) []record {
	all := make([]record, len(ahead))
	for i := range unseen {
		f := m.Predict(ahead[len(ahead)-1])
		for j, h := range ahead {
			if all[j].horizon = h; i+h <= len(unseen) {
				all[j].add(f, unseen[i+h-1])
			}
		}
		m.Observe(unseen[i])
	}
	return all
}

// add counts one more forecast.
func (r *record) add(f forecast.Forecast, busy float64) {
	e := f.Mean[r.horizon-1] - busy
	one := record{mse: e * e, sd: f.SD[r.horizon-1] * f.SD[r.horizon-1], n: 1}
	if busy <= upper(f, r.horizon-1, 1.645) {
		one.below95 = 1
	}
	if busy <= upper(f, r.horizon-1, 2) {
		one.below2 = 1
	}
	r.merge(&one)
}

// merge takes the means of both.
func (r *record) merge(o *record) {
	n := r.n + o.n
	w := o.n / n
	r.mse += w * (o.mse - r.mse)
	r.sd += w * (o.sd - r.sd)
	r.below95 += w * (o.below95 - r.below95)
	r.below2 += w * (o.below2 - r.below2)
	r.n = n
}

// "The average loss is 0.00048 over 1440 data points": Lyra §6. On every shared
// curve the default is better than doing without a model; on average it has the
// paper's loss or less, and never less than the noise of the curves.
func TestPaper_loss_over_1440_points(t *testing.T) {
	const published, noise = 0.00048, 0.02 * 0.02
	sum, curves := 0.0, lyraCurves(t)
	for _, c := range curves {
		if len(c.unseen) != 1440 {
			t.Fatalf("%s: %d values, want 1440", c.name, len(c.unseen))
		}
		ours := mse(shown(forecast.Default(c.day), c.past), c.unseen)
		for _, m := range []forecast.Model{forecast.NewLast(c.day), forecast.NewSeasonalNaive(c.day)} {
			if naive := mse(shown(m, c.past), c.unseen); ours > 0.7*naive {
				t.Errorf("%s: mean squared error %.6f, that of %T %.6f", c.name, ours, m, naive)
			}
		}
		if sum += ours; ours < 0.9*noise || ours > 1.1*published {
			t.Errorf("%s: mean squared error %.6f, want about %g to %g", c.name, ours, noise, published)
		}
	}
	if mean := sum / float64(len(curves)); mean > published {
		t.Errorf("mean squared error %.6f, published %g", mean, published)
	}
}

// On measured curves, too, the default is at least as good as no model.
func TestDefault_on_measured_curves(t *testing.T) {
	for _, c := range otherCurves(t) {
		ours := mse(shown(forecast.Default(c.day), c.past), c.unseen)
		for _, m := range []forecast.Model{forecast.NewLast(c.day), forecast.NewSeasonalNaive(c.day)} {
			naive := mse(shown(m, c.past), c.unseen)
			if t.Logf("%s: %.7f, %T %.7f", c.name, ours, m, naive); ours > 1.02*naive {
				t.Errorf("%s: mean squared error %g, that of %T %g", c.name, ours, m, naive)
			}
		}
	}
}

// From five minutes to a day ahead, over all shared curves: the default is the
// best, and knows how good it is. With -v: the tables of
// docs/experiments/forecast.md.
func TestDefault_a_day_ahead(t *testing.T) {
	ahead := []int{1, 12, 36, 72, 144, 288}
	sums := make([][]record, len(models))
	for _, c := range lyraCurves(t) {
		for i, m := range models {
			if sums[i] == nil {
				sums[i] = make([]record, len(ahead))
			}
			for j, r := range horizons(shown(m.make(c.day), c.past), c.unseen, ahead...) {
				sums[i][j].merge(&r)
			}
		}
	}
	ours := sums[len(sums)-1]
	for i, m := range models {
		for j, r := range sums[i] {
			if t.Logf("%-14s %3d steps: root mean squared error %.4f, deviation %.4f; %.1f %% below 1.645, %.1f %% below 2",
				m.name, ahead[j], math.Sqrt(r.mse), math.Sqrt(r.sd), 100*r.below95, 100*r.below2); r.mse < ours[j].mse {
				t.Errorf("%s is better than the default %d steps ahead", m.name, ahead[j])
			}
		}
	}
	for j, r := range ours {
		if ratio := math.Sqrt(r.sd / r.mse); r.below95 < 0.92 || r.below95 > 0.985 || r.below2 < 0.96 || ratio < 0.9 || ratio > 1.3 {
			t.Errorf("%d steps ahead: %+v, want 95 %% and 97.7 %% below", ahead[j], r)
		}
	}
}

// A network that was trained for a few epochs is better than the last value, and
// not as good as the default.
func TestLSTM_on_a_shared_curve(t *testing.T) {
	c := lyraCurves(t)[0]
	network := mse(trained(t, c, lstmOptions{Hidden: 8, Epochs: 5, Batch: 32, Rate: 0.01, Seed: 1}), c.unseen)
	last := mse(shown(forecast.NewLast(c.day), c.past), c.unseen)
	ours := mse(shown(forecast.Default(c.day), c.past), c.unseen)
	if t.Logf("%.6f, last value %.6f, default %.6f", network, last, ours); network > 0.85*last || network < ours {
		t.Errorf("mean squared error %.6f, that of the last value %.6f, of the default %.6f", network, last, ours)
	}
}
