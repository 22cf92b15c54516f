package simulate

import (
	"fmt"
	"io"
	"strings"

	"github.com/oxgang/oxgang/whatif"
)

// trust writes how well the run is simulated under its own policy, before anything else is said of a
// simulation.
func (v *Verdict) trust(w io.Writer) {
	t := v.Trust
	fmt.Fprintf(w, "Simulated under its own policy, %s: mean JCT %+.1f %%, mean wait %+.1f %%, GPU time %+.1f %%.\n",
		v.Recorded, 100*t.JCT, 100*t.Wait, 100*t.Utilisation)
	if t.Trusted {
		fmt.Fprintf(w, "All are within %.0f %%.\n\n", 100*whatif.Tolerance)
		return
	}
	fmt.Fprintf(w, "NOT TO BE TRUSTED: more than %.0f %% off. %s\n\n", 100*whatif.Tolerance, causes(t))
}

// causes says why a simulation may be off.
func causes(t *whatif.Trust) string {
	if len(t.Causes) == 0 {
		return "Nothing is known that the simulation lacks; its decisions differ where small differences decide."
	}
	return "The simulation lacks: " + strings.Join(t.Causes, "; ") + "."
}

// stamp marks figures of another policy that are not to be trusted.
func (v *Verdict) stamp() string {
	if v.Trust.Trusted || v.Policy == v.Recorded {
		return ""
	}
	return " (not to be trusted)"
}
