package simulate

import (
	"fmt"
	"slices"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/run"
)

// rigidHint returns a hint for comparisons with sia if nine of ten jobs run only as submitted, on one GPU type;
// sia then has few choices.
func rigidHint(in *run.Inputs, policies []string) string {
	rigid := 0
	for i := range in.Arrivals {
		if in.Arrivals[i].Spec.Adaptivity&(job.GPUCount|job.BatchSizes) == 0 {
			rigid++
		}
	}
	if !slices.Contains(policies, "sia") || len(in.Cluster.Types()) > 1 || 10*rigid < 9*len(in.Arrivals) {
		return ""
	}
	return fmt.Sprintf("hint: %d of %d jobs run only as submitted, on one GPU type. sia only chooses when to start them, and does not order them by length. Compare it with srtf and easy (docs/policies.md#sia-on-rigid-jobs).\n", rigid, len(in.Arrivals))
}
