package metrics

import (
	"fmt"
	"math"
	"strings"
)

// Tolerance is the largest relative error with which a replay is trusted: see Judge.
const Tolerance = 0.05

// Figures are the measurements in which a replay is compared with the recording.
type Figures struct {
	JCT         float64 // mean completion time, seconds
	Wait        float64 // mean time until the first start, seconds
	Utilisation float64 // held GPU time over available GPU time
	// Median and P90 of the wait, in seconds; 0 if unknown.
	Median, P90 float64
}

// Figures returns the figures of the run's completed jobs.
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

func (f *Figures) waits() bool { return f.Median > 0 || f.P90 > 0 }

// A Trust states how much a replay under the recorded policy differs from the recording, and whether the simulator is
// therefore trusted. Errors are relative, and positive if the replay has the larger value.
type Trust struct {
	JCT         float64 `json:"jct"`
	Wait        float64 `json:"wait"`
	Utilisation float64 `json:"utilisation"`
	// Waits is nil if only the mean wait is known.
	Waits   *WaitErrors `json:"waits,omitempty"`
	Trusted bool        `json:"trusted"`
	// Causes lists possible causes of the errors; empty if Trusted.
	Causes []string `json:"causes,omitempty"`

	recorded, simulated Figures
	round               float64
	compared, missing   int // jobs
}

// Missing returns how many jobs ended only in the recording, and how many ended in the recording in all.
func (t *Trust) Missing() (missing, recorded int) { return t.missing, t.compared + t.missing }

// WaitErrors are the relative errors of quantiles of the waiting time.
type WaitErrors struct {
	Median float64 `json:"median"`
	P90    float64 `json:"p90"`
}

// Judge compares a replay with the recording. jobs is the number of jobs that ended in both, missing the number that
// ended only in the recording. The replay is trusted if all errors, and the fraction of missing jobs, are at most
// Tolerance. For waits an error below round seconds also suffices, because jobs start only at rounds. causes become
// Trust.Causes.
func Judge(recorded, simulated Figures, jobs, missing int, round float64, causes []string) *Trust {
	t := &Trust{
		JCT: relative(simulated.JCT, recorded.JCT), Wait: relative(simulated.Wait, recorded.Wait),
		Utilisation: relative(simulated.Utilisation, recorded.Utilisation), Causes: causes,
		recorded: recorded, simulated: simulated, round: round, compared: jobs, missing: missing,
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

func relative(simulated, recorded float64) float64 {
	switch {
	case simulated == recorded:
		return 0
	case recorded <= 0:
		return 1
	}
	return simulated/recorded - 1
}

// Stamp is appended to the names of simulations that cannot be trusted (see Trust).
const Stamp = " (not to be trusted)"

// Errors lists the errors in words.
func (t *Trust) Errors() string {
	was, now := &t.recorded, &t.simulated
	text := fmt.Sprintf("mean JCT %s, mean wait %s", percent(t.JCT), t.wait(t.Wait, now.Wait, was.Wait))
	if t.Waits != nil {
		text += fmt.Sprintf(", median wait %s, P90 wait %s", t.wait(t.Waits.Median, now.Median, was.Median), t.wait(t.Waits.P90, now.P90, was.P90))
	}
	return fmt.Sprintf("%s, utilisation %s", text, percent(t.Utilisation))
}

// percent returns a relative error with as many digits as help a reader: "+3.9 %", "-18 %", "17 times as much".
func percent(off float64) string {
	switch size := math.Abs(off); {
	case size < 0.0995:
		return fmt.Sprintf("%+.1f %%", 100*off+0)
	case off < 2:
		return fmt.Sprintf("%+.0f %%", 100*off)
	default:
		return fmt.Sprintf("%.0f times as much", 1+off)
	}
}

// wait returns the error of a wait: as two times if a difference of less than a round is a large part of it.
func (t *Trust) wait(off, simulated, recorded float64) string {
	if math.Abs(off) > Tolerance && (recorded <= 0 || math.Abs(simulated-recorded) < t.round) {
		return fmt.Sprintf("%.0f s instead of %.0f s", simulated, recorded)
	}
	return percent(off)
}

func (t *Trust) byRound() bool {
	return math.Abs(t.Wait) > Tolerance || t.Waits != nil && max(math.Abs(t.Waits.Median), math.Abs(t.Waits.P90)) > Tolerance
}

// Verdict states in words whether simulations of other policies can be trusted, and if not why.
func (t *Trust) Verdict() string {
	switch {
	case t.Trusted && t.byRound():
		return fmt.Sprintf("All errors are within %.0f %%, except waits, which are off by less than one scheduling round.", 100*Tolerance)
	case t.Trusted:
		return fmt.Sprintf("All errors are within %.0f %%.", 100*Tolerance)
	case len(t.Causes) == 0:
		return fmt.Sprintf("NOT TO BE TRUSTED: more than %.0f %% off. No cause is known; where two choices are nearly equal, the simulation may decide differently.", 100*Tolerance)
	}
	return fmt.Sprintf("NOT TO BE TRUSTED: more than %.0f %% off. Possible causes: %s.", 100*Tolerance, strings.Join(t.Causes, "; "))
}
