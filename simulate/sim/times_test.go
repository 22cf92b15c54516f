package sim_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/simulate/sim"
)

// Lyra §7.4, Table 9: jobs end when they do, whatever is believed.
func TestJobsOfWronglyBelievedTimes(t *testing.T) {
	for whole, want := range map[bool][]float64{false: {120, 240}, true: {60, 180}} { // the first round begins at 60 s, or at once
		for _, believed := range []float64{30, 60, 240} { // seconds
			none, o, so := time.Duration(0), sim.DefaultOptions(), scheduler.DefaultOptions()
			o.Restart, o.Public.WholeRounds = &none, whole
			a := named("a", time.Minute)
			a.Spec.Target = believed
			if diff := cmp.Diff(want, ends(t, o, so, a, named("b", 2*time.Minute))); diff != "" {
				t.Errorf("%g s believed, whole rounds %v: ends (-want +got):\n%s", believed, whole, diff)
			}
		}
	}
}
