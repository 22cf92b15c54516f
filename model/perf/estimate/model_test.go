package estimate

import (
	"math"
	"testing"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// Sia §2.1, Eq. 2.3, with the noise scale that was measured.
func TestModel_efficiency(t *testing.T) {
	m, _ := learned(options(Bootstrap), profiles[0], gradients(2, 10)).Model() // phi = 64·5
	for batch, want := range map[float64]float64{64: 1, 320: 384. / 640, 704: 384. / 1024} {
		if got := m.Efficiency(batch); math.Abs(got-want) > 1e-12 {
			t.Errorf("batch of %g: efficiency %g, want %g", batch, got, want)
		}
	}
}

// Inference makes no statistical progress, and pure noise loses none.
func TestModel_efficiency_is_1(t *testing.T) {
	m, _ := learned(options(Bootstrap), profiles[0], gradients(0, 10)).Model()
	if got := m.Efficiency(1e6); got != 1 || !math.IsInf(m.phi, 1) {
		t.Errorf("all noise: efficiency %g at noise scale %g, want 1 and infinity", got, m.phi)
	}
	s := spec()
	s.Goal = job.BatchInference
	j := New(s, options(Bootstrap))
	j.Learn(profiles[0])
	j.Learn(gradients(2, 10))
	if m, _ := j.Model(); m.Efficiency(1e6) != 1 {
		t.Errorf("inference: efficiency %g, want 1", m.Efficiency(1e6))
	}
}

// Only what was measured has parameters.
func TestModel_params(t *testing.T) {
	m, _ := learned(options(Bootstrap), profiles[0]).Model()
	if p, ok := m.Params("A"); !ok || math.Abs(p.Compute(64)-1) > 1e-3 {
		t.Errorf("A: %+v, %v, want 1 s for 64 samples", p, ok)
	}
	for _, unknown := range []cluster.GPUType{"B", "C"} {
		if _, ok := m.Params(unknown); ok {
			t.Errorf("%s has parameters, want none", unknown)
		}
	}
}
