package shards

import (
	"fmt"
	"io"

	"github.com/oxgang/oxgang/lab/casestudy"
	"github.com/oxgang/oxgang/simulate/report"
)

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
			runs[i].Method, fmt.Sprintf("%.2f", s.Movements), fmt.Sprintf("%.1f", s.Replicas), percent(s.Imbalance), percent(s.MostImbalance),
			percent(s.OverMemory), ms(s.CPU), ms(s.CPU99), ms(s.Parallel),
		})
	}
	p.Tables = []casestudy.Table{t}
	p.Charts = append(p.Charts,
		roundChart("Movements", "replicas started in the round", runs, func(r *Round) float64 { return float64(r.Movements) }),
		roundChart("Load imbalance", "most minus least loaded server, % of the mean", runs, func(r *Round) float64 { return 100 * r.Imbalance }),
		roundChart("Replicas", "after the round", runs, func(r *Round) float64 { return float64(r.Replicas) }),
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
