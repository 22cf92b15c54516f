package history

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/scheduler/metrics"
)

// Write prints waits and completion times, the error of the baseline, and the gain of the other runs on each day.
func (c *Comparison) Write(w io.Writer) error {
	if len(c.Pairs) == 0 {
		_, err := fmt.Fprintln(w, "\nno job ended in both the cluster and the simulations: nothing to compare")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\nSINCE SUBMISSION\tJOBS\tMEAN WAIT\tP50 WAIT\tP90 WAIT\tMEAN JCT\tP90 JCT")
	c.row(t, "observed", Observed)
	for i, name := range c.names {
		c.row(t, name, Run(i))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if c.apart > 0 {
		fmt.Fprintf(w, "jobs not compared because they still ran, or did not end in a simulation: %d\n", c.apart)
	}
	c.bias(w)
	return c.days(w)
}

func (c *Comparison) row(w io.Writer, name string, of Select) {
	waits, jcts := c.waits(of), c.jcts(of)
	slices.Sort(waits)
	slices.Sort(jcts)
	fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\t%s\t%s\n", name, len(waits), printable.Short(mean(waits)),
		printable.Short(metrics.Quantile(waits, 0.5)), printable.Short(metrics.Quantile(waits, 0.9)), printable.Short(mean(jcts)), printable.Short(metrics.Quantile(jcts, 0.9)))
}

func (c *Comparison) bias(w io.Writer) {
	if c.own < 0 {
		return
	}
	errors := c.each(func(p *Pair) time.Duration { return p.Runs[c.own].Wait - p.Observed.Wait })
	bias, which := mean(errors), "longer"
	if bias < 0 {
		which = "shorter"
	}
	for i := range errors {
		errors[i] = errors[i].Abs()
	}
	slices.Sort(errors)
	name, _, _ := strings.Cut(c.names[c.own], " ")
	fmt.Fprintf(w, "%s simulated: waits are %s %s than observed on average; half are within %s, 9 of 10 within %s\n",
		name, printable.Short(bias.Abs()), which, printable.Short(metrics.Quantile(errors, 0.5)), printable.Short(metrics.Quantile(errors, 0.9)))
}

func (c *Comparison) days(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\nDAY (UTC)\tJOBS\tMEAN JCT\tREGRET AGAINST %s\n", strings.Join(c.names, "\t"))
	sorted := slices.SortedStableFunc(slices.Values(c.Pairs), func(a, b Pair) int { return cmp.Compare(a.day, b.day) })
	for len(sorted) > 0 {
		n := slices.IndexFunc(sorted, func(p Pair) bool { return p.day != sorted[0].day })
		if n < 0 {
			n = len(sorted)
		}
		day := Comparison{Pairs: sorted[:n]}
		sorted = sorted[n:]
		observed := mean(day.jcts(Observed))
		fmt.Fprintf(t, "%s\t%d\t%s", day.Pairs[0].day, n, printable.Short(observed))
		for i := range c.names {
			fmt.Fprintf(t, "\t%s", signed(observed-mean(day.jcts(Run(i)))))
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

func signed(d time.Duration) string {
	if d < 0 {
		return "-" + printable.Short(-d)
	}
	return "+" + printable.Short(d)
}
