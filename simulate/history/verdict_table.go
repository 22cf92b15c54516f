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
		fmt.Fprintf(w, "%s decided again: %d rounds, %d actions: identical\n\n", v.Policy, v.Rounds, v.Actions)
		v.writeTrust(w)
		if !v.Trust.Trusted {
			fmt.Fprint(w, "From the recorded states the policy makes the recorded decisions. Only the simulated times below are not to be trusted.\n\n")
		}
	default:
		fmt.Fprintf(w, "%s decided again: %d rounds, %d actions, and then a difference\n%s\n\n", v.Policy, v.Rounds-1, v.Actions, v.First)
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
	_, err := fmt.Fprintf(w, "\ncompletion times of %d jobs: off by %.1f %% on average, at most %.1f %%\nmean JCT %v, simulated %v; makespan %v, simulated %v%s\n%s",
		len(f.Jobs), 100*f.Mean, 100*f.Worst, rounded(f.RealJCT), rounded(f.PredictedJCT), rounded(f.Real), rounded(f.Predicted), v.stamp(), v.notes())
	return err
}

func hours(s journal.Seconds) float64 { return time.Duration(s).Hours() }

func rounded(s journal.Seconds) time.Duration { return time.Duration(s).Round(time.Second) }

func (v *Verdict) notes() string {
	f, text := v.Fidelity, ""
	add := func(n int, what string) {
		if n > 0 {
			text += fmt.Sprintf("Note: %s: %d\n", what, n)
		}
	}
	add(f.Ended, "jobs that were cancelled or failed, and end at the same age in the simulation")
	add(f.Open, "jobs that had not ended, and are simulated but not compared")
	add(f.Lost, "losses of GPUs by failures; nodes fail at the same times in the simulation, possibly with other jobs")
	add(f.Nodes, "nodes that joined or left, and do so in the simulation unless they are rented or lent")
	add(f.Refused, "plans of the simulation that broke a rule and were refused")
	if f.Truncated {
		text += "Note: the journal has no end: it was truncated, or its run continues.\n"
	}
	if v.Unsealed {
		text += "Note: " + journal.Unverified + "\n"
	}
	return text
}

func (v *Verdict) writeTrust(w io.Writer) {
	fmt.Fprintf(w, "Simulated under its own policy, %s: %s.\n%s\n\n", v.Recorded, v.Trust.Errors(), v.Trust.Verdict())
}

func (v *Verdict) stamp() string {
	if v.Trust.Trusted || v.Policy == v.Recorded {
		return ""
	}
	return metrics.Stamp
}

func (v *Verdict) writeRanges(w io.Writer) {
	if v.Ranges == nil {
		return
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "TIME\tRANGES\tUNKNOWN\t")
	for _, share := range whatif.Levels {
		fmt.Fprintf(t, "%.0f %% RIGHT (%%)\t", 100*share)
	}
	fmt.Fprintln(t, "80 % WIDTH\tEXACT (%)\t80 % RIGHT, NOT EXACT (%)\t")
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
	fmt.Fprintln(w, "RIGHT is the share of ranges that contained the actual time. WIDTH is the median width of a range over the actual remaining time. In EXACT predictions, both simulations were off by less than a round.")
}

func exact(r *whatif.Reliability) string {
	if r.Ranges == 0 {
		return "\t\t"
	}
	if r.Exact == 1 {
		return "100\t\t"
	}
	return fmt.Sprintf("%.0f\t%.0f\t", 100*r.Exact, 100*r.Rest)
}
