package shards

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/oxgang/oxgang/lab/casestudy"
	"github.com/oxgang/oxgang/simulate/report"
)

// Table prints a row per run, with means over the rounds from first on. Times are CPU milliseconds per round. PARALLEL
// is the time if the parts of pop:K run on 64 cores.
func Table(w io.Writer, runs []Run, first int) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "METHOD\tMOVEMENTS\tREPLICAS\tIMBALANCE (%)\tWORST (%)\tWITHIN (%)\tOVER MEMORY (%)\tCPU (ms)\tP99 (ms)\tPARALLEL (ms)\t0 OR 1 (%)\tDROPPED\t")
	for i := range runs {
		s := runs[i].Summarise(first)
		whole := "-"
		if !math.IsNaN(s.Whole) {
			whole = fmt.Sprintf("%.3f", 100*s.Whole)
		}
		fmt.Fprintf(t, "%s\t%.2f\t%.1f\t%.1f\t%.1f\t%.0f\t%.1f\t%s\t%s\t%s\t%s\t%.2f\t\n", runs[i].Method, s.Movements, s.replicas,
			100*s.Imbalance, 100*s.mostImbalance, 100*s.within, 100*s.overMemory, ms(s.CPU), ms(s.CPU99), ms(s.Parallel), whole, s.dropped+s.evicted)
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("shards: table: %w", err)
	}
	return nil
}

func ms(d time.Duration) string {
	return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', 2, 64)
}

// CSV writes a row per run and round.
func CSV(w io.Writer, runs []Run) error {
	c := csv.NewWriter(w)
	_ = c.Write([]string{
		"method", "round", "zipf", "mean_load", "movements", "replicas", "imbalance", "over_memory",
		"cpu_ms", "parallel_ms", "objective", "bound", "iterations", "sweeps", "limited",
		"zeros", "ones", "between", "dropped", "evicted",
	})
	for i := range runs {
		for k := range runs[i].Rounds {
			_ = c.Write(cells(runs[i].Method, &runs[i].Rounds[k]))
		}
	}
	c.Flush()
	if err := c.Error(); err != nil {
		return fmt.Errorf("shards: csv: %w", err)
	}
	return nil
}

func cells(method string, r *Round) []string {
	f := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	n := strconv.Itoa
	s := &r.stats
	return []string{
		method, n(r.Round), f(r.zipf), f(r.MeanLoad), n(r.Movements), n(r.replicas), f(r.imbalance), f(r.overMemory),
		f(r.CPU.Seconds() * 1e3), f(r.parallel.Seconds() * 1e3), f(s.Objective), f(s.Bound), n(s.Iterations), n(s.Sweeps), strconv.FormatBool(s.Limited),
		n(s.Zero), n(s.One), n(s.Between), n(s.Shim.Dropped), n(s.Shim.Evicted),
	}
}

// HTML writes the results as a page with a table, the loads (Figure 5.1 of the thesis), and movements, imbalance and
// time by round (5.2 and 5.3). Means exclude the rounds before first.
func HTML(w io.Writer, runs []Run, first int) error {
	var p casestudy.Page
	if len(runs) > 0 {
		s, rounds := runs[0].Spec, len(runs[0].Rounds)
		p.Title = fmt.Sprintf("%d shards on %d servers, %s load", s.Shards, s.Servers, s.Drift)
		p.Intro = fmt.Sprintf("%d rounds; the table leaves out the first %d; seed %d, epsilon %g %%. Times are CPU milliseconds per round.", rounds, first, s.Seed, 100*s.Epsilon)
		p.Charts = append(p.Charts, roundChart("Mean load of a server (Figure 5.1)", "load; the hottest shard has 1", runs[:1], func(r *Round) float64 { return r.MeanLoad }))
	}
	percent := func(x float64) string { return fmt.Sprintf("%.1f", 100*x) }
	t := casestudy.Table{Head: []string{"method", "movements", "replicas", "imbalance, %", "worst, %", "over memory, %", "CPU", "p99", "parallel, 64 cores"}}
	for i := range runs {
		s := runs[i].Summarise(first)
		t.Rows = append(t.Rows, []string{
			runs[i].Method, fmt.Sprintf("%.2f", s.Movements), fmt.Sprintf("%.1f", s.replicas), percent(s.Imbalance), percent(s.mostImbalance),
			percent(s.overMemory), ms(s.CPU), ms(s.CPU99), ms(s.Parallel),
		})
	}
	p.Tables = []casestudy.Table{t}
	p.Charts = append(p.Charts,
		roundChart("Movements", "replicas started in the round", runs, func(r *Round) float64 { return float64(r.Movements) }),
		roundChart("Load imbalance", "most minus least loaded server, % of the mean", runs, func(r *Round) float64 { return 100 * r.imbalance }),
		roundChart("Replicas", "after the round", runs, func(r *Round) float64 { return float64(r.replicas) }),
		roundChart("CPU time", "ms, shim included", runs, func(r *Round) float64 { return r.CPU.Seconds() * 1e3 }),
	)
	return p.Write(w)
}

func roundChart(title, up string, runs []Run, value func(*Round) float64) report.Lines {
	c := report.Lines{Title: title, Note: up + ", over rounds"}
	for i := range runs {
		l := report.Line{Name: runs[i].Method}
		for k := range runs[i].Rounds {
			l.X, l.Y = append(l.X, float64(k)), append(l.Y, value(&runs[i].Rounds[k]))
		}
		c.Lines = append(c.Lines, l)
	}
	return c
}
