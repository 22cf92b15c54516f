package whatif

import (
	"testing"

	"github.com/oxgang/oxgang/scheduler/calibration"
)

// TestNotBefore: a job that starts in 10 to 30, perhaps in 20, and runs for 5, ends in 10 to 35 at the earliest. Without the run,
// both ranges printed the same upper bound, as if a job that starts late took no time.
func TestNotBefore(t *testing.T) {
	start := calibration.Range{Early: 10, Likely: 20, Late: 30}
	for _, c := range []struct{ end, want calibration.Range }{
		{calibration.Range{Early: 4, Likely: 19, Late: 29}, calibration.Range{Early: 10, Likely: 25, Late: 35}},
		{calibration.Range{Early: 12, Likely: 26, Late: 40}, calibration.Range{Early: 12, Likely: 26, Late: 40}},
		{calibration.Range{Early: 1, Likely: 2, Late: 3}, calibration.Range{Early: 10, Likely: 25, Late: 35}},
	} {
		if got := notBefore(c.end, start, 5); got != c.want {
			t.Errorf("%+v: got %+v, want %+v", c.end, got, c.want)
		}
	}
}
