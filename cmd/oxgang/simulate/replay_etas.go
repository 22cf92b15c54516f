package simulate

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/oxgang/oxgang/simulate/whatif"
)

// ranges writes how ranges held: a reliability diagram in numbers.
func (v *Verdict) ranges(w io.Writer) {
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

// exact returns the columns of predictions that were exact, and of the ranges of the others.
func exact(r *whatif.Reliability) string {
	if r.Ranges == 0 {
		return "\t\t"
	}
	if r.Exact == 1 {
		return "100\t\t"
	}
	return fmt.Sprintf("%.0f\t%.0f\t", 100*r.Exact, 100*r.Rest)
}
