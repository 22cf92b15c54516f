package history

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"
	"time"

	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/simulate/whatif"
)

// Table writes the verdict.
func (v *Verdict) Table(w io.Writer) error {
	switch {
	case v.replayed == nil:
		v.writeTrust(w)
		fmt.Fprintf(w, "%s in place of %s%s\n\n", v.Policy, v.Recorded, v.stamp())
	case v.First == "":
		fmt.Fprintf(w, "%s: %d rounds, %d actions: identical\n\n", v.Policy, v.Rounds, v.Actions)
		v.writeTrust(w)
	default:
		fmt.Fprintf(w, "%s: %d rounds, %d actions, and then a difference\n%s\n\n", v.Policy, v.Rounds-1, v.Actions, v.First)
		v.writeTrust(w)
	}
	f := v.Fidelity
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "JOB\tRECORDED (h)\tSIMULATED (h)\tERROR (%)\t")
	for _, m := range f.Jobs {
		if m.Predicted < 0 {
			fmt.Fprintf(t, "%s\t%.3f\tnot ended\t\t\n", m.Job, hours(m.Real))
			continue
		}
		fmt.Fprintf(t, "%s\t%.3f\t%.3f\t%.1f\t\n", m.Job, hours(m.Real), hours(m.Predicted), math.Round(1000*m.Error)/10+0)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	v.writeRanges(w)
	_, err := fmt.Fprintf(w, "\n%d jobs: mean error %.1f %%, worst %.1f %%\nmean JCT %v, simulated %v; makespan %v, simulated %v%s\n%s",
		len(f.Jobs), 100*f.Mean, 100*f.Worst, rounded(f.RealJCT), rounded(f.PredictedJCT), rounded(f.Real), rounded(f.Predicted), v.stamp(), v.notes())
	return err
}

func hours(s journal.Seconds) float64 { return time.Duration(s).Hours() }

func rounded(s journal.Seconds) time.Duration { return time.Duration(s).Round(time.Second) }

// notes describes what the simulation omits, and what the journal does not contain.
func (v *Verdict) notes() string {
	f, text := v.Fidelity, ""
	add := func(n int, format string) {
		if n > 0 {
			text += fmt.Sprintf("Note: "+format+"\n", n)
		}
	}
	add(f.Ended, "%d jobs were cancelled or failed; the simulation has them until then.")
	add(f.Open, "%d jobs had not ended; the simulation has them, and no time to compare.")
	add(f.Lost, "jobs lost their GPUs %d times by failures, and nodes fail when they did in the simulation, whichever jobs they have.")
	add(f.Nodes, "nodes joined or left %d times, and do in the simulation, but for nodes that are rented or lent.")
	add(f.Refused, "%d plans of the simulation broke a rule and were refused.")
	if f.Truncated {
		text += "Note: the journal has no end: it was cut off, as by a crash, or its run goes on.\n"
	}
	if v.Unsealed {
		text += "Note: " + journal.Unverified + "\n"
	}
	return text
}

func (v *Verdict) writeTrust(w io.Writer) {
	fmt.Fprintf(w, "Simulated under its own policy, %s: %s.\n%s\n\n", v.Recorded, v.Trust.Errors(), v.Trust.Verdict())
}

// stamp marks untrusted figures of another policy.
func (v *Verdict) stamp() string {
	if v.Trust.Trusted || v.Policy == v.Recorded {
		return ""
	}
	return metrics.Stamp
}

// writeRanges writes a reliability diagram in numbers.
func (v *Verdict) writeRanges(w io.Writer) {
	if v.Ranges == nil {
		return
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "TIME\tRANGES\tNOT KNOWN\t")
	for _, share := range whatif.Levels {
		fmt.Fprintf(t, "OF %.0f %% HELD (%%)\t", 100*share)
	}
	fmt.Fprintln(t, "WIDTH OF 80 %\tEXACT (%)\tOF 80 % THE REST HELD (%)\t")
	for _, r := range v.Ranges {
		fmt.Fprintf(t, "%s\t%d\t%d\t", r.Phase, r.Ranges, r.Unknown)
		for _, held := range r.Held {
			if r.Ranges == 0 {
				fmt.Fprint(t, "\t")
				continue
			}
			fmt.Fprintf(t, "%.0f\t", 100*held)
		}
		fmt.Fprintf(t, "%.2f\t%s\n", r.Width, exact(&r))
	}
	_ = t.Flush()
	fmt.Fprintln(w, "WIDTH is the median of the width of a range, over the time that really remained. EXACT are predictions of which both simulations were off by less than a round.")
}

// exact returns the columns of exact predictions, and of the ranges of the others.
func exact(r *whatif.Reliability) string {
	if r.Ranges == 0 {
		return "\t\t"
	}
	if r.Exact == 1 {
		return "100\t\t"
	}
	return fmt.Sprintf("%.0f\t%.0f\t", 100*r.Exact, 100*r.Rest)
}
