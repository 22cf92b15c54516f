package estimate

import (
	"math"
	"testing"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
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

// TestModel_same: models of two jobs of a class are equal until one of them has learned something of its own.
func TestModel_same(t *testing.T) {
	o := options(Bootstrap)
	o.Share = true
	pool := NewPool(o)
	a, b := pool.New(classed("1", "c")), pool.New(classed("2", "c"))
	model := func(j *Job) *Model {
		m, _ := j.Model()
		return m
	}
	a.Learn(step(on(1, 1, "A"), 1, 0))
	if model(a) == model(b) || !model(a).Same(model(b)) {
		t.Error("jobs of a class with the same measurements: models differ, or are one")
	}
	a.Learn(gradients(1, 2))
	b.Learn(gradients(1, 3))
	if model(a).Same(model(b)) {
		t.Error("other gradient statistics: models are the same")
	}
}

// TestModel_same_oracle: models of mode Oracle are equal if Like returns equal models, and have its bounds.
func TestModel_same_oracle(t *testing.T) {
	o := options(Bootstrap)
	of, _ := learned(o, step(on(1, 1, "A"), 1, 0)).Model()
	again, _ := learned(o, step(on(1, 1, "A"), 1, 0)).Model()
	other, _ := learned(o, step(on(1, 1, "A"), 2, 0)).Model()
	oracle := func(like *Model) *Model {
		x := Options{Mode: Oracle, Oracle: func(*job.Spec) Throughput { return like.Throughput }, Like: func(*job.Spec) perf.Model { return like }}
		m, _ := New(spec(), &x).Model()
		return m
	}
	if !oracle(of).Same(oracle(again)) || oracle(of).Same(oracle(other)) {
		t.Error("models of mode Oracle are not compared by their truths")
	}
	if got, want := oracle(of).StepTime(on(1, 2, "A")), of.StepTime(on(1, 2, "A")); got != want {
		t.Errorf("bounds %+v, want %+v", got, want)
	}
	plain, _ := New(spec(), &Options{Mode: Oracle, Oracle: func(*job.Spec) Throughput { return of.Throughput }}).Model()
	if !plain.Same(plain) || plain.Same(oracle(of)) {
		t.Error("a model without a comparable truth equals only itself")
	}
}
