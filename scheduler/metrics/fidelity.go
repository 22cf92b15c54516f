package metrics

import (
	"fmt"
	"math"
	"strings"
)

// Tolerance is the largest relative error of a simulation of recorded history under its own policy
// with which what a simulation says of another policy is to be trusted.
const Tolerance = 0.05

// Figures are those by which a simulation of a recorded run is compared with it.
type Figures struct {
	JCT         float64 // mean time to completion, seconds
	Wait        float64 // mean time from submission to the first start, seconds
	Utilisation float64 // GPU time held over GPU time there
	// Median and P90 are of that wait, in seconds; 0 if only its mean is known.
	Median, P90 float64
}

// Figures returns those of a run: its times are means over the jobs that are done.
func (r *Result) Figures() Figures {
	f, n := Figures{Utilisation: r.Summary.Utilisation}, 0.0
	for i := range r.Jobs {
		if j := &r.Jobs[i]; j.Outcome == Done {
			f.JCT, f.Wait, n = f.JCT+j.JCT, f.Wait+j.FirstStarted-j.Submitted, n+1
		}
	}
	f.JCT, f.Wait = f.JCT/max(1, n), f.Wait/max(1, n)
	return f
}

// waits reports whether more is known of waits than their mean.
func (f *Figures) waits() bool { return f.Median > 0 || f.P90 > 0 }

// A Trust says how well recorded history is simulated under its own policy: relative errors,
// positive where the simulation has more. What the same simulation says of another policy is to
// be trusted as far as this.
type Trust struct {
	JCT         float64 `json:"jct"`
	Wait        float64 `json:"wait"`
	Utilisation float64 `json:"utilisation"`
	// Waits are the errors of the median and of the 90th percentile of waits; nil: only means are known.
	Waits   *WaitErrors `json:"waits,omitempty"`
	Trusted bool        `json:"trusted"`
	// Causes are what may be the cause of errors; only where it is not trusted.
	Causes []string `json:"causes,omitempty"`
}

// WaitErrors are relative errors of quantiles of waits, as those of a Trust.
type WaitErrors struct {
	Median float64 `json:"median"`
	P90    float64 `json:"p90"`
}

// Judge compares a simulation of recorded history under its own policy with what was recorded, over so
// many jobs that ended in both. It is trusted if all figures are within Tolerance, some job was
// compared, and of jobs that ended in the recording no greater part is missing. A
// wait that is off by less than a round, in seconds, is within it: nothing starts between rounds.
func Judge(recorded, simulated Figures, jobs, missing int, round float64, causes []string) *Trust {
	t := &Trust{
		JCT: relative(simulated.JCT, recorded.JCT), Wait: relative(simulated.Wait, recorded.Wait),
		Utilisation: relative(simulated.Utilisation, recorded.Utilisation), Causes: causes,
	}
	near := func(simulated, recorded float64) bool {
		return math.Abs(relative(simulated, recorded)) <= Tolerance || math.Abs(simulated-recorded) < round
	}
	waits := near(simulated.Wait, recorded.Wait)
	if recorded.waits() || simulated.waits() {
		t.Waits = &WaitErrors{relative(simulated.Median, recorded.Median), relative(simulated.P90, recorded.P90)}
		waits = waits && near(simulated.Median, recorded.Median) && near(simulated.P90, recorded.P90)
	}
	t.Trusted = waits && math.Abs(t.JCT) <= Tolerance && math.Abs(t.Utilisation) <= Tolerance &&
		jobs > 0 && float64(missing) <= Tolerance*float64(jobs+missing)
	if t.Trusted {
		t.Causes = nil
	}
	return t
}

// relative returns the relative error of a value; 1 of one that should be 0 and is not.
func relative(simulated, recorded float64) float64 {
	switch {
	case simulated == recorded:
		return 0
	case recorded <= 0:
		return 1
	}
	return simulated/recorded - 1
}

// Stamp follows the names of simulations of history that is not simulated well enough under its own
// policy.
const Stamp = " (not to be trusted)"

// Errors returns the errors as a list for people.
func (t *Trust) Errors() string {
	quantiles := ""
	if t.Waits != nil {
		quantiles = fmt.Sprintf(", median wait %+.1f %%, P90 wait %+.1f %%", 100*t.Waits.Median+0, 100*t.Waits.P90+0)
	}
	return fmt.Sprintf("mean JCT %+.1f %%, mean wait %+.1f %%%s, utilisation %+.1f %%", 100*t.JCT+0, 100*t.Wait+0, quantiles, 100*t.Utilisation+0)
}

// byRound reports whether some wait is off by more than Tolerance.
func (t *Trust) byRound() bool {
	return math.Abs(t.Wait) > Tolerance || t.Waits != nil && max(math.Abs(t.Waits.Median), math.Abs(t.Waits.P90)) > Tolerance
}

// Verdict returns a sentence or two that say whether to trust another policy's figures, and if
// not, why.
func (t *Trust) Verdict() string {
	switch {
	case t.Trusted && t.byRound():
		return fmt.Sprintf("All are within %.0f %%, but waits that are off by less than a round.", 100*Tolerance)
	case t.Trusted:
		return fmt.Sprintf("All are within %.0f %%.", 100*Tolerance)
	case len(t.Causes) == 0:
		return fmt.Sprintf("NOT TO BE TRUSTED: more than %.0f %% off. Nothing is known that the simulation lacks; it decides otherwise where small differences decide.", 100*Tolerance)
	}
	return fmt.Sprintf("NOT TO BE TRUSTED: more than %.0f %% off. Possible causes: %s.", 100*Tolerance, strings.Join(t.Causes, "; "))
}
