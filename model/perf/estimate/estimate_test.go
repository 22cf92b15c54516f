package estimate

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/opt/lbfgsb"
)

func on(nodes, gpus int, t cluster.GPUType) cluster.Allocation {
	return cluster.Allocation{Configuration: cluster.Configuration{Nodes: nodes, GPUs: gpus, GPUType: t}}
}

// options are those of a mode on A nodes of 4 GPUs and B nodes of 8.
func options(m Mode) *Options {
	fits := NewCache()
	fits.Minimize = lbfgsb.WithTolerance()
	return &Options{Mode: m, Fits: fits, Types: []cluster.TypeInfo{
		{Type: "A", Nodes: 4, GPUs: 16, PerNode: 4, Sizes: []int{4}}, {Type: "B", Nodes: 2, GPUs: 16, PerNode: 8, Sizes: []int{8}},
	}}
}

func spec() *job.Spec {
	return &job.Spec{ID: "j", GPUs: 1, Batch: job.BatchLimits{Init: 64, Max: 1024, LocalMax: map[cluster.GPUType]int{"A": 64, "B": 256}}}
}

// step reports one pass over 64 samples a replica: seconds, of which sync for
// the exchange of gradients.
func step(a cluster.Allocation, seconds, sync float64) *job.Report {
	d := func(x float64) time.Duration { return time.Duration(x * float64(time.Second)) }
	return &job.Report{Job: "j", Configuration: a.Configuration, Batch: job.BatchSize{Local: 64}, StepTime: d(seconds), SyncTime: d(sync)}
}

func gradients(sqr, variance float64) *job.Report {
	return &job.Report{GradSqr: sqr, GradVar: variance}
}

func learned(o *Options, reports ...*job.Report) *Job {
	j := New(spec(), o)
	for _, r := range reports {
		j.Learn(r)
	}
	return j
}

// believes fails unless j believes in a throughput at 64 samples a replica, to
// 0.1 %: fits have priors.
func believes(t *testing.T, j *Job, a cluster.Allocation, want float64) {
	t.Helper()
	m, _ := j.Model()
	if got := m.Throughput(a, job.BatchSize{Local: 64}); math.Abs(got-want) > 1e-3*want {
		t.Errorf("on %v: %g samples/s, want %g", a.Configuration, got, want)
	}
}

// profiles are 64 samples/s on one A, and 128 on one B.
var profiles = []*job.Report{step(on(1, 1, "A"), 1, 0), step(on(1, 1, "B"), 0.5, 0)}

// Sia §3.3.2: "Sia makes a one-time simplifying assumption to estimate J's
// throughput on 2-GPUs of A: throughput of two data-parallel replicas is twice
// the throughput of a single replica".
func TestBootstrap_scales_perfectly_at_first(t *testing.T) {
	j := learned(options(Bootstrap), profiles...)
	believes(t, j, on(1, 1, "A"), 64)
	believes(t, j, on(1, 2, "A"), 128)
	believes(t, j, on(2, 8, "A"), 512)
	believes(t, j, on(1, 1, "B"), 128)
	believes(t, j, on(2, 16, "B"), 2048)
}

// Sia §3.3.2, Eq. 3.1: est-xput_B(N) = xput_B(1) / xput_A(1) · xput_A(N).
func TestBootstrap_equation_3_1(t *testing.T) {
	j := learned(options(Bootstrap), profiles...)
	j.Learn(step(on(1, 2, "A"), 1.28, 0.28)) // 100 samples/s
	believes(t, j, on(1, 2, "A"), 100)
	believes(t, j, on(1, 1, "B"), 128)
	believes(t, j, on(1, 2, "B"), 128./64*100)
	m, _ := j.Model()
	for _, gpus := range []int{2, 4, 8, 16} { // 8 B are one node, 8 A are two
		b := job.BatchSize{Local: 64}
		believes(t, j, on((gpus+7)/8, gpus, "B"), 128./64*m.Throughput(on((gpus+3)/4, gpus, "A"), b))
	}
}

// Sia §3.3.2: "if J runs with a multi-GPU allocation on B GPUs, we can safely
// discard the bootstrapped throughput model".
func TestBootstrap_is_discarded_when_known(t *testing.T) {
	j := learned(options(Bootstrap), profiles...)
	j.Learn(step(on(1, 2, "A"), 1.28, 0.28))
	j.Learn(step(on(1, 2, "B"), 0.8, 0.3)) // 160 samples/s, not 200
	believes(t, j, on(1, 2, "B"), 160)
	believes(t, j, on(1, 2, "A"), 100)
}

// The type seen with most multi-GPU configurations lends.
func TestBootstrap_borrows_from_the_type_known_best(t *testing.T) {
	j := learned(options(Bootstrap), profiles...)
	j.Learn(step(on(1, 2, "B"), 1, 0.5)) // 128 samples/s: two are no faster than one
	believes(t, j, on(1, 2, "A"), 64)
}

// Eq. 3.1 for jobs that scale in units of P GPUs (§3.5.3): N counts replicas.
// Two on B, of 4 GPUs each, are one node; so are two on A, of 1 GPU.
func TestBootstrap_counts_replicas(t *testing.T) {
	s := spec()
	s.GPUsPerReplica = map[cluster.GPUType]int{"A": 1, "B": 4}
	j := New(s, options(Bootstrap))
	for _, r := range []*job.Report{profiles[0], step(on(1, 4, "B"), 0.5, 0), step(on(1, 2, "A"), 1.28, 0.28), step(on(2, 2, "A"), 4, 3)} {
		j.Learn(r)
	}
	believes(t, j, on(1, 8, "B"), 200)
	m, _ := j.Model()
	for _, a := range []cluster.Allocation{on(1, 2, "B"), on(1, 1, "C")} { // no whole replica; no such type
		if got := m.Throughput(a, job.BatchSize{Local: 64}); got != 0 {
			t.Errorf("on %v: %g samples/s, want 0", a.Configuration, got)
		}
	}
}

// Sia §3.5.8: without profiles a type never run on is no faster than another.
func TestNoProf(t *testing.T) {
	j := learned(options(NoProf), profiles[0])
	believes(t, j, on(1, 1, "A"), 64)
	believes(t, j, on(1, 2, "A"), 128)
	believes(t, j, on(1, 1, "B"), 64)
	m, _ := j.Model()
	if got := m.Throughput(on(1, 2, "B"), job.BatchSize{Local: 64}); got != 0 {
		t.Errorf("two of a type never run on: %g samples/s, want 0", got)
	}
	j.Learn(profiles[1])
	believes(t, j, on(1, 1, "B"), 128)
	believes(t, j, on(1, 2, "B"), 256)
}

func TestOracle_knows_the_truth_and_learns_efficiency(t *testing.T) {
	o := options(Oracle)
	o.Oracle = func(*job.Spec) Throughput {
		return func(a cluster.Allocation, b job.BatchSize) float64 { return float64(1000*a.GPUs + b.Local) }
	}
	j := learned(o)
	believes(t, j, on(1, 2, "B"), 2064)
	m, _ := j.Model()
	if got := m.phi; got != 0 {
		t.Errorf("noise scale %g, want 0: none was measured", got)
	}
	j.Learn(step(on(1, 2, "B"), 100, 50)) // what is measured does not count
	j.Learn(gradients(2, 6))
	believes(t, j, on(1, 2, "B"), 2064)
	if m, _ := j.Model(); m.phi != 64*3 {
		t.Errorf("noise scale %g, want 192", m.phi)
	}
}

// The public code: the first type that was run on lends, by the ratio of
// reference throughputs, and with its batch limits; until the other was run on.
func TestPublicCode_borrows(t *testing.T) {
	o := options(PublicCode)
	o.Reference = func(_ *job.Spec, t cluster.GPUType) float64 { return map[cluster.GPUType]float64{"A": 10, "B": 30}[t] }
	j := New(spec(), o)
	if m, limits := j.Model(); m != nil || limits != &j.spec.Batch {
		t.Errorf("got %v and %v before a run, want nothing, and the limits submitted", m, limits)
	}
	j.Learn(step(on(1, 1, "A"), 1, 0))
	believes(t, j, on(1, 1, "A"), 64)
	believes(t, j, on(1, 1, "B"), 3*64)
	_, limits := j.Model()
	if diff := cmp.Diff(map[cluster.GPUType]int{"A": 64, "B": 64}, limits.LocalMax); diff != "" {
		t.Errorf("while B borrows from A: %s", diff)
	}
	j.Learn(step(on(1, 1, "B"), 0.5, 0))
	believes(t, j, on(1, 1, "B"), 128)
	_, limits = j.Model()
	if diff := cmp.Diff(map[cluster.GPUType]int{"A": 64, "B": 256}, limits.LocalMax); diff != "" {
		t.Errorf("when both are known: %s", diff)
	}
	o.ReferenceFirst = true
	believes(t, New(spec(), o), on(1, 1, "B"), 30)
}

func TestSmoothing(t *testing.T) {
	for _, c := range []struct{ smoothing, want float64 }{
		{0, 64},                 // the last report alone
		{0.75, 64 * 2.5 / 1.75}, // a quarter of it
	} {
		o := options(Bootstrap)
		o.Smoothing = c.smoothing
		m, _ := learned(o, profiles[0], gradients(1, 2), gradients(4, 4)).Model()
		if got := m.phi; math.Abs(got-c.want) > 1e-9 {
			t.Errorf("smoothing %g: noise scale %g, want %g", c.smoothing, got, c.want)
		}
	}
}

// Measurements of one point are averaged: their noise falls with their number.
func TestLearn_averages_noise(t *testing.T) {
	j := New(spec(), options(Bootstrap))
	for _, seconds := range []float64{0.8, 1.1, 1.3, 0.8} { // 1 on average
		j.Learn(step(on(1, 1, "A"), seconds, 0))
	}
	believes(t, j, on(1, 1, "A"), 64)
	if n := len(j.types[0].seen); n != 1 {
		t.Errorf("%d points, want 1", n)
	}
}

// A policy finds rows that changed by comparing pointers.
func TestModel_is_the_same_while_nothing_is_learned(t *testing.T) {
	for _, mode := range []Mode{Bootstrap, PublicCode} {
		o := options(mode)
		o.Reference = func(*job.Spec, cluster.GPUType) float64 { return 1 }
		j := learned(o, profiles[0], gradients(1, 2))
		m, limits := j.Model()
		for name, r := range map[string]*job.Report{
			"nothing": {}, "the same step": profiles[0], "the same gradients": gradients(1, 2),
			"a type that is not there": step(on(1, 1, "C"), 1, 0),
		} {
			j.Learn(r)
			if again, same := j.Model(); again != m || same != limits {
				t.Errorf("%v: other pointers after a report of %s", mode, name)
			}
		}
		for name, r := range map[string]*job.Report{"another step": step(on(1, 1, "A"), 1.5, 0), "other gradients": gradients(1, 3)} {
			before, _ := j.Model()
			j.Learn(r)
			if after, _ := j.Model(); after == before {
				t.Errorf("%v: the same pointer after a report of %s", mode, name)
			}
		}
	}
}

func TestParseMode(t *testing.T) {
	for m := Bootstrap; m <= PublicCode; m++ {
		if got, err := ParseMode(m.String()); got != m || err != nil {
			t.Errorf("%v: %v, %v", m, got, err)
		}
	}
	if _, err := ParseMode("psychic"); err == nil || err.Error() != `estimate mode "psychic", want one of [bootstrap no-prof oracle public-code]` {
		t.Errorf("got %v", err)
	}
}
