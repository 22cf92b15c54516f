package generate

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/workload"
)

// variation returns the mean of the times between arrivals and the square of their
// coefficient of variation.
func variation(at []float64) (mean, c2 float64) {
	n, sqr, before := float64(len(at)), 0.0, 0.0
	for _, t := range at {
		sqr += (t - before) * (t - before) / n
		before = t
	}
	mean = before / n
	return mean, sqr/(mean*mean) - 1
}

// "We keep the long-run average arrival rate fixed, but create increasingly short and
// intense bursts"; newTrace has 2.65 (BOA §6.4).
func TestBursts(t *testing.T) {
	before := phase{gap: 2, lasts: 2 * burstJobs}
	for _, want := range []float64{1, 1.5, 2.65, 5, 10, 20, 40} {
		b := newBursts(want)
		mean, c2 := variation(b.times(rng.Stream(1, "bursts"), 4_000_000))
		if math.Abs(c2/want-1) > 0.03 || math.Abs(mean-1) > 0.015 {
			t.Errorf("burstiness %v: got %.3f and a mean time of %.4f, want 1", want, c2, mean)
		}
		if b[0].gap >= before.gap || b[0].lasts >= before.lasts {
			t.Errorf("burstiness %v: bursts %+v, want shorter and more intense ones than %+v", want, b[0], before)
		}
		before = b[0]
		t.Logf("burstiness %v: %.3f, mean %.4f, bursts of %.3f, %.3f apart", want, c2, mean, b[0].lasts, b[0].gap)
	}
}

func TestBursty(t *testing.T) {
	at := func(c2 float64, seed uint64) []workload.Arrival {
		all := generate(t, DefaultOptions("newtrace-like"))
		if err := Bursty(all, c2, seed); err != nil {
			t.Fatal(err)
		}
		return all
	}
	all, was := at(5, 1), generate(t, DefaultOptions("newtrace-like"))
	times := make([]float64, len(all))
	for i, a := range all {
		if times[i] = a.At.Seconds(); a.Spec.ID != was[i].Spec.ID || i > 0 && a.At < all[i-1].At {
			t.Fatalf("job %d: %s at %v, want the trace's order", i, a.Spec.ID, a.At)
		}
	}
	if got, want := all[len(all)-1].At, was[len(was)-1].At; got != want {
		t.Errorf("last job at %v, want %v", got, want)
	}
	if _, c2 := variation(times); c2 < 3.5 || c2 > 7 { // of 960 jobs
		t.Errorf("got %.2f, want about 5", c2)
	}
	if !cmp.Equal(all, at(5, 1)) || cmp.Equal(all, at(5, 2)) {
		t.Error("times do not follow the seed")
	}
}

func TestBurstyErrors(t *testing.T) {
	some := []workload.Arrival{{Spec: job.Spec{ID: "a"}}, {At: time.Hour, Spec: job.Spec{ID: "b"}}}
	for _, c2 := range []float64{-1, 0, 0.99, mostBursty + 1, math.NaN(), math.Inf(1)} {
		if err := Bursty(some, c2, 1); err == nil {
			t.Errorf("burstiness %v: no error", c2)
		}
	}
	for _, all := range [][]workload.Arrival{nil, some[:1]} {
		if err := Bursty(all, 2, 1); err == nil {
			t.Errorf("%d jobs at the start: no error", len(all))
		}
	}
	if err := Bursty(some, mostBursty, 1); err != nil || some[0].At <= 0 || some[0].At >= time.Hour {
		t.Errorf("got %v and a job at %v", err, some[0].At)
	}
}
