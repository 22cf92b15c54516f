package experiments

import (
	"testing"

	"github.com/oxgang/oxgang/config"
	"github.com/oxgang/oxgang/job"
)

// TestIsolated: jobs share an answer only if nothing that decides it differs.
func TestIsolated(t *testing.T) {
	c := config.Default()
	c.Generate.Jobs = 1
	in, err := Load(c, osFiles())
	if err != nil {
		t.Fatal(err)
	}
	alone := isolated(in)
	spec := func(change func(*job.Spec)) *job.Spec {
		s := job.Spec{Class: "cifar10", GPUs: 4, BatchSize: 128, Adaptivity: job.Adaptive, Batch: in.Catalog["cifar10"].Batch}
		change(&s)
		return &s
	}
	whole := alone(spec(func(*job.Spec) {}), "a100", 8)
	for name, tc := range map[string]struct {
		got, than float64
	}{
		"a smaller largest batch":     {alone(spec(func(s *job.Spec) { s.Batch.Max = 256 }), "a100", 8).Seconds(), whole.Seconds()},
		"a fixed batch size":          {alone(spec(func(s *job.Spec) { s.Adaptivity = job.StrongScaling }), "a100", 8).Seconds(), whole.Seconds()},
		"fewer GPUs at most":          {alone(spec(func(s *job.Spec) { s.MaxGPUs = 2 }), "a100", 8).Seconds(), whole.Seconds()},
		"half a GPU instead of a GPU": {alone(spec(func(*job.Spec) {}), "a100", 0.5).Seconds(), alone(spec(func(*job.Spec) {}), "a100", 1).Seconds()},
	} {
		if !(tc.got > tc.than) {
			t.Errorf("%s: alone in %.0f s, want more than %.0f s", name, tc.got, tc.than)
		}
	}
	if got := alone(spec(func(*job.Spec) {}), "abacus", 8); got != 0 {
		t.Errorf("on a GPU type that is not there: got %v, want 0", got)
	}
}
