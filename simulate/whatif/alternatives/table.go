package alternatives

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/oxgang/oxgang/scheduler/metrics/statistics"
)

// Table writes the answer for people.
func (a *Answer) Table(w io.Writer) error {
	fmt.Fprintf(w, "%s\n\n", upper(a.Sentence))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "POLICY\tASSUMES\tMEAN WAIT\t%.0f %% RANGE\tP50 WAIT\tP90 WAIT\tMEAN JCT\tUTIL (%%)\n", 100*statistics.Share)
	for i := range a.Rows {
		r := &a.Rows[i]
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%.1f\n", r.Name, dash(r.Assumes), span(r.MeanWait), r.span(), span(r.MedianWait), span(r.P90Wait), span(r.MeanJCT), 100*r.Utilisation)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nYour own policy, replayed as %s: %s.\n%s\n", a.Own, a.Trust.Errors(), a.Trust.Verdict())
	_, err := fmt.Fprintf(w, "\nIt rests on:\n  %s\n\nWhat would have to be true:\n  %s\n", strings.Join(a.RestsOn, "\n  "), strings.Join(a.Must, "\n  "))
	return err
}

// span returns the range of the mean wait.
func (r *Row) span() string {
	switch {
	case r.scenario == nil:
		return "-"
	case r.High == nil:
		return "not known"
	}
	return span(*r.Low) + " to " + span(*r.High)
}

// dash stands for nothing.
func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// upper returns a sentence with a capital at its beginning.
func upper(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
