package simulate

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/oxgang/oxgang/whatif"
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
	fmt.Fprintln(t, "WIDTH OF 80 %\t")
	for _, r := range v.Ranges {
		fmt.Fprintf(t, "%s\t%d\t%d\t", r.Phase, r.Ranges, r.Unknown)
		for _, held := range r.Held {
			if r.Ranges == 0 {
				fmt.Fprint(t, "\t")
				continue
			}
			fmt.Fprintf(t, "%.0f\t", 100*held)
		}
		fmt.Fprintf(t, "%.2f\t\n", r.Width)
	}
	_ = t.Flush()
	fmt.Fprintln(w, "WIDTH is the median of the width of a range, over the time that really remained.")
}
