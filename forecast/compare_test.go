package forecast_test

import (
	"math"
	"testing"

	"github.com/oxgang/oxgang/forecast"
)

// A record is how well a model predicts so many steps ahead.
type record struct {
	horizon int
	n       int
	mse     float64
	sd      float64 // predicted, in the mean
	below95 float64 // share of values below mean + 1.645 SD
	below2  float64 // mean + 2 SD
}

// horizons returns the records of a model on unseen values, for some horizons.
func horizons(m forecast.Model, unseen []float64, ahead ...int) []record {
	all := make([]record, len(ahead))
	most := ahead[len(ahead)-1]
	for i := range unseen {
		f := m.Predict(most)
		for j, h := range ahead {
			if i+h > len(unseen) {
				continue
			}
			busy, r := unseen[i+h-1], &all[j]
			r.horizon = h
			r.n++
			e := f.Mean[h-1] - busy
			r.mse += e * e
			r.sd += f.SD[h-1]
			if busy <= f.Upper(h-1, 1.645) {
				r.below95++
			}
			if busy <= f.Upper(h-1, 2) {
				r.below2++
			}
		}
		m.Observe(unseen[i])
	}
	for j := range all {
		r, n := &all[j], float64(all[j].n)
		r.mse, r.sd, r.below95, r.below2 = r.mse/n, r.sd/n, r.below95/n, r.below2/n
	}
	return all
}

func TestCompare(t *testing.T) {
	for _, c := range append(lyraCurves(t), otherCurves(t)...) {
		for _, m := range models {
			t.Logf("%-14s %-14s %.6f", c.name, m.name, forecast.MSE(shown(m.make(c.day), c.past), c.unseen))
		}
	}
	for _, c := range lyraCurves(t) {
		for _, m := range models {
			for _, r := range horizons(shown(m.make(c.day), c.past), c.unseen, 1, 12, 72, 144, 288) {
				t.Logf("%-8s %-14s %3d rmse %.4f sd %.4f  %.3f %.3f", c.name, m.name, r.horizon, math.Sqrt(r.mse), r.sd, r.below95, r.below2)
			}
		}
	}
}
