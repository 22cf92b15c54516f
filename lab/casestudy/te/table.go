package te

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
	"time"
)

// Table prints a row per method, with means over the rounds from first on. FLOW and TOPPED UP are Flow and ToppedUp of
// Round; gaps are relative to the best bound. CPU is seconds per round; PARALLEL is the time if the parts of pop:K run
// in parallel.
func Table(w io.Writer, rounds []Round, first int) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "METHOD\tFLOW\tOF DEMAND (%)\tGAP (%)\tTOPPED UP\tGAP (%)\tVIOLATION\tCPU (s)\tWORST (s)\tPARALLEL (s)\tLIMITED\t")
	for _, s := range Summarise(rounds, first) {
		fmt.Fprintf(t, "%s\t%.0f\t%.2f\t%.3f\t%.0f\t%.3f\t%.1e\t%s\t%s\t%s\t%d\t\n", s.Method, s.Flow, 100*s.Served, 100*s.Gap,
			s.ToppedUp, 100*s.ToppedGap, s.Violation, seconds(s.CPU), seconds(s.Worst), seconds(s.Parallel), s.Limited)
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("te: table: %w", err)
	}
	return nil
}

func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 3, 64) }

// CSV writes a row per round and method.
func CSV(w io.Writer, rounds []Round) error {
	c := csv.NewWriter(w)
	_ = c.Write([]string{
		"method", "round", "demand", "flow", "topped_up", "bound", "violation", "cpu_s", "parallel_s", "iterations", "limited",
	})
	f := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	for i := range rounds {
		r := &rounds[i]
		_ = c.Write([]string{
			r.Method, strconv.Itoa(r.Round), f(r.Demand), f(r.Flow), f(r.ToppedUp), f(r.Bound), f(r.Violation),
			seconds(r.CPU), seconds(r.Parallel), strconv.Itoa(r.Iterations), strconv.FormatBool(r.Limited),
		})
	}
	c.Flush()
	if err := c.Error(); err != nil {
		return fmt.Errorf("te: csv: %w", err)
	}
	return nil
}
