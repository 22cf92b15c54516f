package shockwave_test

import (
	"testing"
	"time"

	"github.com/oxgang/oxgang/policy/shockwave"
)

// BenchmarkPredict is what a scheduler does for a job: epochs seen, time left.
func BenchmarkPredict(b *testing.B) {
	const epochs = 1000
	sizes := []int{16, 32, 64, 128, 256}
	times := map[int]time.Duration{16: 5, 32: 4, 64: 3, 128: 2, 256: 1}
	for _, rule := range []shockwave.Rule{shockwave.Restatement, shockwave.Bayes, shockwave.Greedy} {
		b.Run("rule="+rule.String(), func(b *testing.B) {
			p, err := shockwave.NewPredictor(rule, epochs, sizes)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := p.Observe(sizes[0], 0); err != nil {
					b.Fatal(err)
				}
				if _, err := p.Remaining(times); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A prediction allocates nothing.
func TestPredict_allocates_nothing(t *testing.T) {
	p := after(t, shockwave.Restatement, 1000, []int{16, 32})
	times := map[int]time.Duration{16: 5, 32: 4}
	got := testing.AllocsPerRun(100, func() {
		if p.Observe(16, 1) != nil {
			t.Fatal("cannot observe")
		}
		if _, err := p.Remaining(times); err != nil {
			t.Fatal(err)
		}
	})
	if got != 0 {
		t.Errorf("%g allocations, want none", got)
	}
}
