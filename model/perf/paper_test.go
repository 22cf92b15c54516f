package perf_test

import (
	"math"
	"testing"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
)

// A job as the thesis describes one: compute scales with the batch, gradient
// exchange costs more between nodes than within.
func typical() *fitted {
	return &fitted{perf.Params{AlphaC: 0.05, BetaC: 0.002, AlphaN: 0.1, BetaN: 0.002, AlphaR: 0.02, BetaR: 0.001, Gamma: 1.5}, 1000, 128}
}

// Sia §2.1, Eq. 2.3: statistical efficiency (B, B0) = (phi + B0) / (phi + B).
func TestEfficiency_equation_2_3(t *testing.T) {
	for _, c := range []struct{ phi, init, m, want float64 }{
		{1000, 128, 128, 1},      // relative to the initial batch size
		{100, 100, 300, 0.5},     // half the progress a sample
		{0, 32, 64, 0.5},         // no noise: a second sample adds nothing
		{1e12, 32, 32768, 1},     // all noise: every sample counts
		{300, 100, 50, 8. / 7.0}, // smaller batches are more efficient
	} {
		if got := perf.Efficiency(c.phi, c.init, c.m); math.Abs(got-c.want) > 1e-6 {
			t.Errorf("efficiency at phi %g, B0 %g, B %g: %g, want %g", c.phi, c.init, c.m, got, c.want)
		}
	}
}

// Sia §2.1, Eq. 2.4: goodput is statistical efficiency times throughput.
func TestGoodput_equation_2_4(t *testing.T) {
	m, b := typical(), job.BatchSize{Local: 64, Accumulation: 1}
	// 4 replicas on a node: two passes of 0.178 s, one with an exchange of
	// 0.022 s; 512 samples at efficiency 1128/1512.
	step := 0.178 + math.Pow(math.Pow(0.178, 1.5)+math.Pow(0.022, 1.5), 1/1.5)
	want := 512 / step * 1128 / 1512
	if got := perf.Goodput(m, on(1, 4, "t4"), 4, b); math.Abs(got/want-1) > 1e-12 {
		t.Errorf("goodput %g, want %g", got, want)
	}
}

// Sia §2.1: "For a fixed minibatch size B, increasing the number of GPUs
// (strong-scaling) gives us diminishing returns".
func TestThroughput_strong_scaling_has_diminishing_returns(t *testing.T) {
	m := typical()
	last, gain := 0.0, math.Inf(1)
	for _, gpus := range []int{1, 2, 4, 8} {
		x := m.Throughput(on(1, gpus, "t4"), job.BatchSize{Local: 1024 / gpus})
		if last > 0 && x/last >= gain {
			t.Errorf("%d GPUs: %g times the throughput of half as many, which had %g times", gpus, x/last, gain)
		}
		if last > 0 {
			gain = x / last
		}
		last = x
	}
	if gain >= 2 {
		t.Errorf("the last doubling gained %g, want less than 2", gain)
	}
}

// Sia §2.1: with 8 times the GPUs and the batch, "the training throughput goes
// up ≈ 8x", but training time scales "sub-linear".
func TestGoodput_weak_scaling_is_sublinear(t *testing.T) {
	m, b := typical(), job.BatchSize{Local: 128}
	one, eight := on(1, 1, "t4"), on(1, 8, "t4")
	if x := m.Throughput(eight, b) / m.Throughput(one, b); x < 7 || x > 8 {
		t.Errorf("8 times the GPUs have %g times the throughput, want about 8", x)
	}
	if x := perf.Goodput(m, eight, 8, b) / perf.Goodput(m, one, 1, b); x < 1 || x > 6 {
		t.Errorf("8 times the GPUs have %g times the goodput, want far below 8", x)
	}
}

// Sia §2.1: the optimal batch size "changes over time": it grows with the
// noise scale.
func TestBestBatch_grows_with_the_noise_scale(t *testing.T) {
	m, last := typical(), 0
	limits := &job.BatchLimits{Init: 128, Max: 8192}
	for _, phi := range []float64{100, 1000, 1e4, 1e6} {
		m.phi = phi
		_, b := perf.BestBatch(m, on(1, 4, "t4"), 4, limits)
		if b.PerReplica() <= last {
			t.Errorf("phi %g: %d samples a replica, want more than %d", phi, b.PerReplica(), last)
		}
		last = b.PerReplica()
	}
}
