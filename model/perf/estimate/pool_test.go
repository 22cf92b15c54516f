package estimate

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// classed returns the spec of a job of a class.
func classed(id job.ID, c job.Class) *job.Spec {
	s := spec()
	s.ID, s.Class = id, c
	return s
}

func sharing(m Mode) *Options {
	o := options(m)
	o.Share = true
	return o
}

// BOA §5.3: "we extended the system to allow jobs of the same class to share
// performance models".
func TestPool_a_job_knows_what_its_class_measured(t *testing.T) {
	pool := NewPool(sharing(Bootstrap))
	first, second, other := pool.New(classed("1", "c")), pool.New(classed("2", "c")), pool.New(classed("3", "d"))
	first.Learn(step(on(1, 1, "A"), 1, 0))
	first.Learn(step(on(1, 2, "A"), 1.28, 0.28))
	believes(t, second, on(1, 2, "A"), 100)
	believes(t, pool.New(classed("4", "c")), on(1, 2, "A"), 100)
	if m, _ := other.Model(); m != nil {
		t.Errorf("another class: got a model, want nothing known")
	}
}

func TestPool_who_does_not_share(t *testing.T) {
	for name, c := range map[string]struct {
		o     *Options
		class job.Class
	}{"without class": {sharing(Bootstrap), ""}, "not told to": {options(Bootstrap), "c"}} {
		pool := NewPool(c.o)
		first, second := pool.New(classed("1", c.class)), pool.New(classed("2", c.class))
		first.Learn(step(on(1, 1, "A"), 1, 0))
		if second.known() || !first.known() {
			t.Errorf("%s: want only what was measured of the job itself", name)
		}
	}
}

// A class' noise scale in an epoch is of the mean statistics; its own, once a job has
// some, count alone.
func TestPool_gradients(t *testing.T) {
	pool := NewPool(sharing(Bootstrap))
	first, second := pool.New(classed("1", "c")), pool.New(classed("2", "c"))
	learn := func(j *Job, epoch int, sqr, vari float64) {
		r := gradients(sqr, vari)
		r.Epoch = epoch
		j.Learn(r)
	}
	noise := func(j *Job) float64 { m, _ := j.Model(); return m.phi }
	first.Learn(step(on(1, 1, "A"), 1, 0))
	learn(first, 2, 1, 2)
	learn(first, 2, 3, 2)
	learn(first, 6, 1, 5)
	if got := noise(first); got != 64*5 {
		t.Errorf("the first job: got %g samples, want its own 320", got)
	}
	for epoch, want := range []float64{64, 64, 64, 64, 64, 320, 320, 320} { // of two that are as near the earlier
		learn(second, epoch, 0, 0)
		if got := noise(second); got != want {
			t.Errorf("epoch %d: got %g samples, want %g of the nearest epoch of the class", epoch, got, want)
		}
	}
	learn(second, 7, 1, 1)
	if got := noise(second); got != 64 {
		t.Errorf("the second job, with statistics of its own: got %g samples, want 64", got)
	}
}

// The version changes exactly when the belief does.
func TestPool_version(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pool := NewPool(sharing(Bootstrap))
		jobs := []*Job{pool.New(classed("1", "c")), pool.New(classed("2", "c")), pool.New(classed("3", "d"))}
		for range 20 {
			before, models := make([]Version, 3), make([]*Model, 3)
			for i, j := range jobs {
				models[i], _ = j.Model()
				before[i] = j.Version()
			}
			r := step(on(1, rapid.SampledFrom([]int{1, 2}).Draw(t, "GPUs"), "A"), rapid.SampledFrom([]float64{1, 1.1}).Draw(t, "s"), 0.1)
			r.GradSqr, r.GradVar = 1, rapid.SampledFrom([]float64{0, 1, 2}).Draw(t, "variance")
			r.Epoch = rapid.IntRange(0, 2).Draw(t, "epoch")
			jobs[rapid.IntRange(0, 2).Draw(t, "job")].Learn(r)
			for i, j := range jobs {
				now, _ := j.Model()
				if same := before[i] == j.Version(); same != (now == models[i]) {
					t.Fatalf("job %d: version kept: %v, model kept: %v, want both or neither", i+1, same, now == models[i])
				}
			}
		}
	})
}

// TestFactor: the logarithms of the factors have the standard deviation that was asked
// for, and the factors are those of the model.
func TestFactor(t *testing.T) {
	o := options(Bootstrap)
	o.Error, o.Seed = 0.5, 7
	sum, squares, n := 0.0, 0.0, 4000
	for gpus := range n {
		x := math.Log(o.Factor("c", cluster.Configuration{Nodes: 1, GPUs: gpus + 1, GPUType: "A"}))
		sum, squares = sum+x, squares+x*x
	}
	mean := sum / float64(n)
	if deviation := math.Sqrt(squares/float64(n) - mean*mean); math.Abs(mean) > 0.03 || math.Abs(deviation-0.5) > 0.03 {
		t.Errorf("got %.3f ± %.3f, want 0 ± 0.5", mean, deviation)
	}
	truth := func(a cluster.Allocation, _ job.BatchSize) float64 { return float64(a.GPUs) }
	for _, m := range []Mode{Bootstrap, Oracle} {
		o := options(m)
		o.Oracle = func(*job.Spec) Throughput { return truth }
		right := New(classed("1", "c"), o)
		wrong := *o
		wrong.Error, wrong.Seed = 0.5, 7
		made := New(classed("1", "c"), &wrong)
		for _, j := range []*Job{right, made} {
			j.Learn(step(on(1, 1, "A"), 1, 0))
			j.Learn(step(on(1, 2, "A"), 1.28, 0.28))
		}
		before, _ := right.Model()
		after, _ := made.Model()
		for _, gpus := range []int{1, 2, 4} {
			a, b := on(1, gpus, "A"), job.BatchSize{Local: 64}
			if got, want := after.Throughput(a, b)/before.Throughput(a, b), wrong.Factor("c", a.Configuration); math.Abs(got/want-1) > 1e-12 || got == 1 {
				t.Errorf("%v, %d GPUs: believed %g times as fast, want %g", m, gpus, got, want)
			}
		}
	}
}

func TestOptions_validate(t *testing.T) {
	o := Options{Smoothing: 1, Error: math.NaN()}
	want := "smoothing 1, want at least 0 and less than 1\nerror NaN, want 0 to 5"
	if err := o.Validate(); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
