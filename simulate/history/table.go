package history

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/scheduler/metrics/statistics"
)

// Table prints the result as a table.
func (a *Answer) Table(w io.Writer) error {
	fmt.Fprintf(w, "%s\n\n", a.Sentence)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "POLICY\tASSUMES\tMEAN WAIT\t%.0f %% INTERVAL\tP50 WAIT\tP90 WAIT\tMEAN JCT\tUTIL (%%)\tLATER (%%)\tMAX WAIT\n", 100*statistics.Share)
	for i := range a.Rows {
		r := &a.Rows[i]
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%.1f\t%s\t%s\n", r.Name, dash(r.Assumes), span(r.MeanWait), r.span(), span(r.MedianWait), span(r.P90Wait), span(r.MeanJCT), 100*r.Utilisation, r.later(), r.longest())
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if largest := a.largest(); largest != nil {
		fmt.Fprintf(w, "LATER: jobs that finish %s later than under your own policy\n", metrics.LaterRule)
		fmt.Fprintf(w, "MAX WAIT: longest wait for the first start, jobs of %s\n", largest.Size)
	}
	for _, list := range []struct {
		title string
		lines []string
	}{{"Accuracy", a.accuracyLines()}, {"Possible causes of the difference", a.Trust.Causes}, {"Based on", a.RestsOn}, {"Assumptions", a.Must}} {
		if len(list.lines) > 0 {
			fmt.Fprintf(w, "\n%s:\n  %s\n", list.title, strings.Join(list.lines, "\n  "))
		}
	}
	return nil
}

func (a *Answer) accuracyLines() []string {
	lines := []string{fmt.Sprintf("your own policy, replayed as %s: %s", a.Own, a.Trust.Errors())}
	if a.Trust.Trusted {
		lines = append(lines, a.Trust.Verdict())
	}
	return lines
}

func (a *Answer) largest() *metrics.Waits {
	waits := a.Rows[0].waits
	for i := len(waits) - 1; i >= 0; i-- {
		if waits[i].Jobs > 0 {
			return &waits[i]
		}
	}
	return nil
}

func (r *Row) longest() string {
	if r.MaxWait == nil {
		return "-"
	}
	return span(*r.MaxWait)
}

func (r *Row) later() string {
	if r.delays == nil || r.delays.Compared == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", 100*r.delays.Share())
}

func (r *Row) span() string {
	switch {
	case r.scenario == nil:
		return "-"
	case r.High == nil:
		return "not known"
	}
	return span(*r.Low) + " to " + span(*r.High)
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

func upper(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
