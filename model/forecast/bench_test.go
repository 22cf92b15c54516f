package forecast_test

import (
	"testing"

	"github.com/oxgang/oxgang/simulate/workload"
)

// BenchmarkMSE is the comparison of docs/experiments/forecast.md: each model on
// days of each curve that it has not seen, in millionths. Run it once.
func BenchmarkMSE(b *testing.B) {
	for _, c := range append(lyraCurves(b), otherCurves(b)...) {
		for _, m := range models {
			b.Run("curve="+c.name+"/model="+m.name, func(b *testing.B) {
				for b.Loop() {
					b.ReportMetric(1e6*mse(shown(m.make(c.day), c.past), c.unseen), "1e-6/value")
				}
			})
		}
		b.Run("curve="+c.name+"/model=lstm", func(b *testing.B) {
			for b.Loop() {
				b.ReportMetric(1e6*mse(trained(b, c, defaultLSTM()), c.unseen), "1e-6/value")
			}
		})
	}
}

// BenchmarkSimulation is what a simulator of Lyra's trace does: every 5 minutes
// of 15 days it asks for the next day.
func BenchmarkSimulation(b *testing.B) {
	busy := workload.Diurnal(1, 15).Busy
	for _, m := range models {
		b.Run("model="+m.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				model := m.make(288)
				for _, x := range busy {
					model.Observe(x)
					model.Predict(288)
				}
			}
		})
	}
}

func trained(t testing.TB, c curve, o lstmOptions) *lstmModel {
	t.Helper()
	m, err := trainLSTM(c.past, c.day, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
