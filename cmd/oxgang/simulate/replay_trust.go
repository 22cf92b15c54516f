package simulate

import (
	"fmt"
	"io"

	"github.com/oxgang/oxgang/scheduler/metrics"
)

// trust writes how well the run is simulated under its own policy.
func (v *Verdict) trust(w io.Writer) {
	fmt.Fprintf(w, "Simulated under its own policy, %s: %s.\n%s\n\n", v.Recorded, v.Trust.Errors(), v.Trust.Verdict())
}

// stamp marks figures of another policy that are not to be trusted.
func (v *Verdict) stamp() string {
	if v.Trust.Trusted || v.Policy == v.Recorded {
		return ""
	}
	return metrics.Stamp
}
