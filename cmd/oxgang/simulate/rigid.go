package simulate

import (
	"fmt"
	"slices"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/run"
)

// rigidHint returns a hint for comparisons with sia on a trace in which sia can choose little; empty
// if there is nothing to say. It is given if at least nine of ten jobs run as submitted, all on
// GPUs of one type; docs/policies.md has what was measured in that case.
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
	return fmt.Sprintf("hint: %d of %d jobs run only as submitted, on one GPU type: sia can choose nothing for them but when, and does not order them by length; compare it with srtf and easy (docs/policies.md#sia-on-rigid-jobs)\n", rigid, len(in.Arrivals))
}
