package agentapi

import (
	"slices"
	"testing"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// A ladder goes from a sixteenth of a worker's samples up to all of them, and never beyond what fits.
func TestLadder(t *testing.T) {
	for _, test := range []struct {
		name    string
		init    int
		workers int
		least   int
		fits    int // 0: not known
		want    []int
	}{
		{"one worker", 128, 1, 1, 128, []int{8, 20, 51, 128}},
		{"four workers", 128, 4, 1, 128, []int{2, 5, 13, 32}},
		{"what fits is not known", 128, 1, 1, 0, []int{8, 20, 51, 128}},
		{"few samples", 3, 1, 1, 3, []int{1, 2, 3}},
		{"little fits", 4096, 1, 1, 64, []int{64}},
		{"its program wants more", 128, 1, 32, 128, []int{32, 51, 81, 128}},
	} {
		spec := &job.Spec{Batch: job.BatchLimits{Init: test.init, Max: test.init, LocalMin: test.least}}
		if test.fits > 0 {
			spec.Batch.LocalMax = map[cluster.GPUType]int{"h100": test.fits}
		}
		if got := Ladder(spec, "h100", test.workers); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}
