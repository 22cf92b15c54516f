package estimate_test

import (
	"math"
	"testing"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/model/perf/estimate"
)

// Milliseconds of a step on one H100, by local batch size; docs/experiments/gpu.md has how they were measured.
var onH100 = map[string]map[int]float64{
	"resnet50": {1: 23.59, 2: 24.00, 4: 26.23, 8: 23.88, 16: 26.39, 32: 25.00, 64: 32.63, 128: 61.55, 256: 117.52, 512: 227.67, 1024: 446.94},
	"gpt2":     {1: 38.52, 2: 40.86, 4: 49.73, 8: 72.04, 16: 128.90, 32: 244.77},
}

// TestFit_of_real_GPU: what is fitted on four batch sizes predicts the others, of two models on a real GPU. A straight
// line in the batch size, which the model of Pollux is, is furthest off where a step ceases to be bound by its launches: by
// how much is held here, so that no change of the fit makes it worse.
func TestFit_of_real_GPU(t *testing.T) {
	for _, test := range []struct {
		model          string
		fitted         []int
		within, beyond float64 // worst relative error between the sizes fitted, and of larger ones
	}{
		{"resnet50", []int{16, 32, 128, 256}, 0.25, 0.135},
		{"resnet50", []int{1, 8, 32, 256}, 0.30, 0.185},
		{"gpt2", []int{1, 2, 8, 16}, 0.085, 0.13},
		{"gpt2", []int{2, 4, 8, 32}, 0.075, 0},
	} {
		p, within, beyond := fitted(onH100[test.model], test.fitted), 0.0, 0.0
		for local, ms := range onH100[test.model] {
			off := math.Abs(p.Iteration(1, 1, job.BatchSize{Local: local})*1e3/ms - 1)
			switch {
			case local > test.fitted[3]:
				beyond = max(beyond, off)
			case local >= test.fitted[0]:
				within = max(within, off)
			}
		}
		if within > test.within || beyond > test.beyond {
			t.Errorf("%s fitted on %v: off by %.3f between them and %.3f beyond, want at most %.3f and %.3f", test.model, test.fitted, within, beyond, test.within, test.beyond)
		}
	}
}

// fitted returns what is fitted on measured steps of one worker.
func fitted(ms map[int]float64, sizes []int) *perf.Params {
	var obs []perf.Observation
	for _, local := range sizes {
		s := ms[local] / 1e3
		obs = append(obs, perf.Observation{Nodes: 1, Replicas: 1, Local: local, Compute: s, Step: s})
	}
	p, _ := estimate.Fit(obs, nil)
	return &p
}
