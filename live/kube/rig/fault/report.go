package fault

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"
)

// Complaints returns the outcomes with something wrong.
func Complaints(all []Outcome) (bad []Outcome) {
	for _, o := range all {
		if o.Complain != "" {
			bad = append(bad, o)
		}
	}
	return bad
}

// Report returns a table of outcomes and a summary.
func Report(all []Outcome) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "step\tact\tcall\tkilled\tsettled\tcomplaint")
	var slowest time.Duration
	reached, missed := 0, 0
	for _, o := range all {
		killed := "not reached"
		switch {
		case o.Call.Number == 0:
			killed = "no"
		case o.Reached:
			killed = o.Moment.String()
			reached++
			slowest = max(slowest, o.Took)
		default:
			missed++
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\n", o.Call.Number, o.Act, o.Call.String(), killed, took(o), o.Complain)
	}
	_ = w.Flush() // strings.Builder never fails
	fmt.Fprintf(&b, "%d kills, %d not reached, settled in at most %s, %d complaints\n",
		reached, missed, slowest.Round(time.Millisecond), len(Complaints(all)))
	return b.String()
}

func took(o Outcome) string {
	if !o.Settled {
		return "never"
	}
	return o.Took.Round(time.Millisecond).String()
}
