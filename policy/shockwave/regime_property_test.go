package shockwave_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/policy/shockwave"
)

// A truth is a job as it will have been.
type truth struct {
	epochs int
	sizes  []int // of K regimes
	last   []int // epochs of each regime, of which the first has some
	times  map[int]time.Duration
}

// anyTruth draws a job whose batch sizes may come back; if they do not, others
// than the first regime may have no epochs.
func anyTruth(t *rapid.T) *truth {
	k := rapid.IntRange(1, 6).Draw(t, "K")
	sizes := rapid.IntRange(2, 6).Draw(t, "batch sizes")
	tr := &truth{times: make(map[int]time.Duration)}
	for i := range k {
		b := 8 << (i % sizes)
		least := 1
		if i > 0 && sizes >= k {
			least = 0
		}
		n := rapid.IntRange(least, 30).Draw(t, "epochs")
		tr.sizes = append(tr.sizes, b)
		tr.last = append(tr.last, n)
		tr.epochs += n
		tr.times[b] = time.Duration(rapid.IntRange(0, 1000).Draw(t, "seconds")) * time.Second
	}
	return tr
}

// replay lets a predictor see the job, and calls check before each epoch, of
// which k is the regime, and at the end.
func (tr *truth) replay(t *rapid.T, rule shockwave.Rule, check func(p *shockwave.Predictor, k int)) {
	p, err := shockwave.NewPredictor(rule, tr.epochs, tr.sizes)
	if err != nil {
		t.Fatal(err)
	}
	observe := func(k, epochs int) {
		if err := p.Observe(tr.sizes[k], epochs); err != nil {
			t.Fatal(err)
		}
	}
	for k, n := range tr.last {
		for range n {
			observe(k, 0)
			check(p, k)
			observe(k, 1)
			check(p, k)
		}
	}
}

func (tr *truth) total() time.Duration {
	total := time.Duration(0)
	for k, n := range tr.last {
		total += time.Duration(n) * tr.times[tr.sizes[k]]
	}
	return total
}

// miss returns Σ |expected − true| over the regimes, in epochs.
func (tr *truth) miss(p *shockwave.Predictor) float64 {
	sum := 0.0
	for k, r := range p.Regimes() {
		sum += math.Abs(r.Expected - float64(tr.last[k]))
	}
	return sum
}

func TestPredictor_invariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := anyTruth(t)
		rule := rapid.SampledFrom([]shockwave.Rule{shockwave.Restatement, shockwave.Bayes, shockwave.Greedy}).Draw(t, "rule")
		tr.replay(t, rule, func(p *shockwave.Predictor, k int) {
			sum := 0.0
			for i, r := range p.Regimes() {
				sum += r.Expected
				if r.Expected < 0 || i > p.Present() && r.Seen > 0 {
					t.Fatalf("regime %d is %+v in regime %d", i, r, p.Present())
				}
				if rule != shockwave.Bayes && r.Expected < float64(r.Seen)-1e-9 {
					t.Fatalf("regime %d is %+v", i, r)
				}
			}
			if math.Abs(sum-float64(tr.epochs)) > 1e-9 || p.Present() != k {
				t.Fatalf("in regime %d, want %d: %v has %g epochs, want %d", p.Present(), k, p.Regimes(), sum, tr.epochs)
			}
			total, err := p.Total(tr.times)
			remaining, err2 := p.Remaining(tr.times)
			if err != nil || err2 != nil || remaining < 0 || remaining > total {
				t.Fatalf("%v of %v remain (%v, %v)", remaining, total, err, err2)
			}
		})
	})
}

// The paper's rule is exact when the last regime begins, and its error never
// grows: rule.go says why.
func TestRestatement_converges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := anyTruth(t)
		before, miss := math.Inf(1), 0.0
		tr.replay(t, shockwave.Restatement, func(p *shockwave.Predictor, k int) {
			miss = tr.miss(p)
			if miss > before+1e-9 {
				t.Fatalf("%v of %v: %g epochs off, before %g", p.Regimes(), tr.last, miss, before)
			}
			if before = miss; k < len(tr.sizes)-1 {
				return
			}
			total, err := p.Total(tr.times)
			if miss > 1e-9 || err != nil || (total-tr.total()).Abs() > time.Microsecond {
				t.Fatalf("%v of %v in the last regime: %v, want %v (%v)", p.Regimes(), tr.last, total, tr.total(), err)
			}
		})
		if miss > 1e-9 {
			t.Fatalf("%g epochs off at the end", miss)
		}
	})
}
