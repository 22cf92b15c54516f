package te

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/oxgang/oxgang/lab/casestudy"
	"github.com/oxgang/oxgang/simulate/report"
)

// HTML writes the results as a page with a table, the demands (Figure 5.4 of the thesis), and flow, gap and time by
// round (5.5 and 5.6). Means are from round first on.
func HTML(w io.Writer, title string, demands []Demand, rounds []Round, first int) error {
	p := casestudy.Page{
		Title: title,
		Intro: fmt.Sprintf("Means over the rounds after the first %d. Flow is feasible; topped-up flow also uses all remaining capacity. Gaps are to the best proven bound.", first),
		Charts: []report.Lines{
			demandChart(demands),
			roundChart("Total flow", "of the demand, %", rounds, func(r *Round) float64 { return 100 * r.Flow / r.Demand }),
			roundChart("Optimality gap", "to the best bound, %", rounds, func(r *Round) float64 { return 100 * r.Gap() }),
			roundChart("CPU time", "seconds, with the parts of pop:K in parallel", rounds, func(r *Round) float64 { return r.parallel.Seconds() }),
		},
	}
	percent := func(x float64) string { return fmt.Sprintf("%.3f", 100*x) }
	t := casestudy.Table{Head: []string{"method", "flow", "of demand, %", "gap, %", "topped up", "gap, %", "CPU, s", "parallel, s"}}
	for _, s := range Summarise(rounds, first) {
		t.Rows = append(t.Rows, []string{
			s.method, fmt.Sprintf("%.0f", s.Flow), percent(s.Served), percent(s.Gap),
			fmt.Sprintf("%.0f", s.toppedUp), percent(s.toppedGap), seconds(s.CPU), seconds(s.Parallel),
		})
	}
	p.Tables = []casestudy.Table{t}
	return p.Write(w)
}

func roundChart(title, up string, rounds []Round, value func(*Round) float64) report.Lines {
	c := report.Lines{Title: title, Note: up + ", over rounds", Logarithmic: true}
	for i := range rounds {
		r := &rounds[i]
		at := slices.IndexFunc(c.Lines, func(l report.Line) bool { return l.Name == r.Method })
		if at < 0 {
			at = len(c.Lines)
			c.Lines = append(c.Lines, report.Line{Name: r.Method})
		}
		l := &c.Lines[at]
		l.X, l.Y = append(l.X, float64(r.Round)), append(l.Y, value(r))
	}
	return c
}

func demandChart(demands []Demand) report.Lines {
	line := report.Line{Name: "first round"}
	order := heaviest(demands)
	slices.Reverse(order)
	const points = 400
	for k := range points + 1 {
		i := k * (len(order) - 1) / points
		line.X = append(line.X, float64(k)/points)
		line.Y = append(line.Y, demands[order[i]].volume)
	}
	return report.Lines{Title: "Demands (Figure 5.4)", Note: "volume, by share of demands that have at most as much", Logarithmic: true, Lines: []report.Line{line}}
}

// Table prints a row per method, with means over the rounds from first on. FLOW and TOPPED UP are Flow and toppedUp of
// Round; gaps are relative to the best bound. CPU is seconds per round; PARALLEL is the time if the parts of pop:K run
// in parallel.
func Table(w io.Writer, rounds []Round, first int) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "METHOD\tFLOW\tOF DEMAND (%)\tGAP (%)\tTOPPED UP\tGAP (%)\tVIOLATION\tCPU (s)\tWORST (s)\tPARALLEL (s)\tLIMITED\t")
	for _, s := range Summarise(rounds, first) {
		fmt.Fprintf(t, "%s\t%.0f\t%.2f\t%.3f\t%.0f\t%.3f\t%.1e\t%s\t%s\t%s\t%d\t\n", s.method, s.Flow, 100*s.Served, 100*s.Gap,
			s.toppedUp, 100*s.toppedGap, s.violation, seconds(s.CPU), seconds(s.Worst), seconds(s.Parallel), s.limited)
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
			r.Method, strconv.Itoa(r.Round), f(r.Demand), f(r.Flow), f(r.toppedUp), f(r.bound), f(r.violation),
			seconds(r.CPU), seconds(r.parallel), strconv.Itoa(r.iterations), strconv.FormatBool(r.limited),
		})
	}
	c.Flush()
	if err := c.Error(); err != nil {
		return fmt.Errorf("te: csv: %w", err)
	}
	return nil
}
