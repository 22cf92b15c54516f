package workload_test

import (
	"math"
	"os"
	"testing"

	"github.com/oxgang/oxgang/internal/testdata"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/workload"
	"github.com/oxgang/oxgang/simulate/workload/profiles"
)

// TestReference: the one-GPU reference throughputs that the public simulator
// compares GPU types by, to three digits as they were read off it.
func TestReference(t *testing.T) {
	catalog, err := profiles.ReadProfiles(os.DirFS(testdata.Path(t, "sia/profiles")), nil)
	if err != nil {
		t.Fatal(err)
	}
	for app, want := range map[string][3]float64{
		"cifar10": {1458, 3306, 10063}, "bert": {13.0, 26.9, 140}, "deepspeech2": {31.5, 52.5, 77.5},
		"yolov3": {27.9, 11.7, 56.7}, "imagenet": {217, 395, 1034},
	} {
		for i, typ := range []cluster.GPUType{"t4", "rtx", "a100"} {
			if got := catalog[app].Reference(typ); math.Abs(got-want[i])/want[i] > 0.005 {
				t.Errorf("%s on %s: got %.1f samples/s, want %v", app, typ, got, want[i])
			}
		}
	}
}

// whole is an allocation of GPUs of one node that says nothing of CPUs.
func whole(gpus int, t cluster.GPUType) cluster.Allocation {
	return cluster.Allocation{Configuration: cluster.Configuration{Nodes: 1, GPUs: gpus, GPUType: t}}
}

// A job that waits for its input trains as fast as that comes, if CPUs and
// memory are counted. Source: Synergy §1, GPU-proportional allocation.
func TestAloneOfAJobThatWaits(t *testing.T) {
	app, spec := profiles.Default()["alexnet"], job.Spec{GPUs: 2, Target: 98}
	for _, c := range []struct {
		cpus   float64
		memory int64
		want   float64 // seconds
	}{
		{0, 0, 10},                           // not counted
		{6, 125_000_000_000, 98 / (2 / 0.6)}, // the share of 2 GPUs: 0.6 s an iteration each
		{24, 250_000_000_000, 10},            // all it can use: 4.9 iterations/s each
		{24, 100_000_000_000, math.Inf(1)},
	} {
		share := whole(2, "v100")
		share.CPUs, share.Memory = c.cpus, c.memory
		if got := app.Alone(&spec, share); !(math.Abs(got-c.want) < 1e-9 || got == c.want) {
			t.Errorf("%g CPUs and %d bytes: %g s, want %g", c.cpus, c.memory, got, c.want)
		}
	}
}

func TestAlone(t *testing.T) {
	app := profiles.Default()["cifar10"]
	on := func(gpus int, adapts job.Adaptivity, batch int) float64 {
		spec := job.Spec{GPUs: gpus, BatchSize: batch, Adaptivity: adapts, Batch: app.Batch}
		return app.Alone(&spec, whole(gpus, "a100"))
	}
	one, eight, fixed := on(1, job.Adaptive, 128), on(8, job.Adaptive, 128), on(8, job.Rigid, 128)
	if !(eight < one && eight > one/8) {
		t.Errorf("got %.0f s on 1 GPU and %.0f s on 8, want faster, by less than 8 times", one, eight)
	}
	if !(fixed > eight) {
		t.Errorf("got %.0f s with the batch size fixed at B0 and %.0f s with the best, want slower", fixed, eight)
	}
}

// An inference job makes progress with every sample, whatever the batch size.
func TestAloneOfAnInferenceJob(t *testing.T) {
	app := profiles.Default()["cifar10"]
	spec := job.Spec{GPUs: 8, Adaptivity: job.Adaptive, Batch: app.Batch}
	on := whole(8, "a100")
	training := app.Alone(&spec, on)
	spec.Goal = job.BatchInference
	if got := app.Alone(&spec, on); !(got < training) {
		t.Errorf("got %.0f s, want less than the %.0f s of training", got, training)
	}
}

func TestAloneOfASteadyJob(t *testing.T) {
	app := workload.Steady(4)
	spec := job.Spec{GPUs: 4, Target: 100}
	for gpus, want := range map[int]float64{4: 100, 8: 50, 1: 400} {
		if got := app.Alone(&spec, whole(gpus, "any")); math.Abs(got-want) > 1e-9 {
			t.Errorf("%d GPUs: got %v s, want %v", gpus, got, want)
		}
	}
}

func TestThroughputOfNothing(t *testing.T) {
	app := profiles.Default()["bert"]
	if got := app.Throughput(cluster.Configuration{}, job.BatchSize{Local: 4}); got != 0 {
		t.Errorf("no GPUs: got %v samples/s", got)
	}
	if got := app.Throughput(cluster.Configuration{Nodes: 1, GPUs: 1, GPUType: "abacus"}, job.BatchSize{Local: 4}); got != 0 {
		t.Errorf("a GPU type without profile: got %v samples/s", got)
	}
}
