package rounds

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

// A Summary has means and quantiles over the measurements of one engine after warmUp. A pair is a job and a
// configuration.
type Summary struct {
	roundEngine        string
	rounds             int
	cold               time.Duration // first round
	edit, solve, shim  time.Duration // medians
	P50, p90, P99, max time.Duration // of the totals
	longest            time.Duration // median time of the longest part; 0 without parts
	Value              float64       // mean
	Gap                float64       // worst
	violation          float64       // worst
	split              float64       // largest share of jobs with several configurations in the relaxed solution
	Between            float64       // mean share of pairs with a relaxed value between 0 and 1
	ones               float64       // mean share of pairs with relaxed value 1
	Changed            float64       // mean share of pairs with a changed relaxed value
	churned            float64       // mean share of pairs of new or ended jobs
	heapBytes          uint64        // largest
}

// Summarise returns a summary per engine.
func Summarise(all []Measurement) []Summary {
	var out []Summary
	for len(all) > 0 {
		n := slices.IndexFunc(all, func(m Measurement) bool { return m.Engine != all[0].Engine })
		if n < 0 {
			n = len(all)
		}
		out = append(out, summarise(all[:n]))
		all = all[n:]
	}
	return out
}

func summarise(all []Measurement) Summary {
	s := Summary{roundEngine: all[0].Engine, cold: all[0].Total()}
	var edit, solve, shim, total, longest []time.Duration
	for _, m := range all {
		if m.Round < warmUp {
			continue
		}
		s.rounds++
		edit, solve, shim = append(edit, m.edit), append(solve, m.solve), append(shim, m.shim)
		total, longest = append(total, m.Total()), append(longest, m.longest)
		s.Value += m.value
		s.Gap, s.violation = max(s.Gap, m.gap), max(s.violation, m.violation)
		s.split = max(s.split, float64(m.fractional)/float64(m.jobs))
		pairs := float64(m.pairs)
		s.Between += float64(m.between) / pairs
		s.ones += float64(m.ones) / pairs
		s.Changed += float64(m.changed) / pairs
		s.churned += float64(m.added+m.removed) / pairs
		s.heapBytes = max(s.heapBytes, m.heapBytes)
	}
	for _, mean := range []*float64{&s.Value, &s.Between, &s.ones, &s.Changed, &s.churned} {
		*mean /= float64(max(1, s.rounds))
	}
	s.edit, s.solve, s.shim, s.longest = casestudy.Quantile(edit, 0.5), casestudy.Quantile(solve, 0.5), casestudy.Quantile(shim, 0.5), casestudy.Quantile(longest, 0.5)
	s.P50, s.p90, s.P99, s.max = casestudy.Quantile(total, 0.5), casestudy.Quantile(total, 0.9), casestudy.Quantile(total, 0.99), casestudy.Quantile(total, 1)
	return s
}

// Table prints a line per engine. Times are CPU milliseconds. CHANGED is the relaxed values that change between rounds,
// per million.
func Table(w io.Writer, all []Summary) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "ENGINE\tROUNDS\tCOLD (ms)\tEDIT\tSOLVE\tSHIM\tP50\tP90\tP99\tMAX\tLONGEST PART\tVALUE\tGAP\tVIOLATION\tSPLIT JOBS (%)\tCHANGED (ppm)\tHEAP (MB)\t")
	for _, s := range all {
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%.6g\t%.1e\t%.2g\t%.2f\t%.2f\t%.1f\t\n", s.roundEngine, s.rounds,
			ms(s.cold), ms(s.edit), ms(s.solve), ms(s.shim), ms(s.P50), ms(s.p90), ms(s.P99), ms(s.max), ms(s.longest),
			s.Value, s.Gap, s.violation, 100*s.split, 1e6*s.Changed, float64(s.heapBytes)/1e6)
	}
	return t.Flush()
}

func ms(d time.Duration) string { return fmt.Sprintf("%.3g", d.Seconds()*1e3) }

// CSV writes a row per measurement, in seconds.
func CSV(w io.Writer, all []Measurement) error {
	out := csv.NewWriter(w)
	rows := [][]string{{
		"engine", "round", "jobs", "pairs", "edit_s", "solve_s", "shim_s", "longest_part_s", "value", "bound", "best_bound", "gap",
		"violation", "residual", "iterations", "status", "served", "fractional_jobs", "ones", "between", "changed", "added", "removed", "heap_bytes",
	}}
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', 9, 64) }
	for i := range all {
		m := &all[i]
		rows = append(rows, []string{
			m.Engine, strconv.Itoa(m.Round), strconv.Itoa(m.jobs), strconv.Itoa(m.pairs), number(m.edit.Seconds()), number(m.solve.Seconds()),
			number(m.shim.Seconds()), number(m.longest.Seconds()), number(m.value), number(m.bound), number(m.best), number(m.gap),
			number(m.violation), number(m.residual), strconv.Itoa(m.iterations), m.status, strconv.Itoa(m.served), strconv.Itoa(m.fractional),
			strconv.Itoa(m.ones), strconv.Itoa(m.between), strconv.Itoa(m.changed), strconv.Itoa(m.added), strconv.Itoa(m.removed),
			strconv.FormatUint(m.heapBytes, 10),
		})
	}
	if err := out.WriteAll(rows); err != nil {
		return err
	}
	return out.Error()
}

// HTML writes the measurements as a page: a summary per engine, times of rounds (Figure 4.5 of the thesis), changes of
// the solution between rounds (4.2), and relaxed values (4.4).
func HTML(w io.Writer, s Study, all []Measurement) error {
	times := report.Lines{Title: "Time of a round (Figure 4.5)", Note: "CPU time in ms, by share of the rounds that take at most as long", Logarithmic: true}
	changes := report.Lines{Title: "Changes between rounds (Figure 4.2)", Note: "values that changed, ppm, over rounds", Logarithmic: true}
	speed := casestudy.Table{Head: []string{"engine", "cold", "edit", "solve", "shim", "p50", "p90", "p99", "value", "gap", "violation", "heap, MB"}}
	made := casestudy.Table{
		Title: "The relaxed solution (Figure 4.4)",
		Head:  []string{"engine", "values of 1, ppm", "between 0 and 1, ppm", "changed, ppm", "added and removed, ppm"},
	}
	ppm := func(x float64) string { return fmt.Sprintf("%.3g", 1e6*x) }
	for _, sum := range Summarise(all) {
		took, changed := lines(sum.roundEngine, all)
		times.Lines, changes.Lines = append(times.Lines, took), append(changes.Lines, changed)
		speed.Rows = append(speed.Rows, []string{
			sum.roundEngine, ms(sum.cold), ms(sum.edit), ms(sum.solve), ms(sum.shim), ms(sum.P50), ms(sum.p90), ms(sum.P99),
			fmt.Sprintf("%.6g", sum.Value), fmt.Sprintf("%.1e", sum.Gap), fmt.Sprintf("%.2g", sum.violation), fmt.Sprintf("%.1f", float64(sum.heapBytes)/1e6),
		})
		made.Rows = append(made.Rows, []string{sum.roundEngine, ppm(sum.ones), ppm(sum.Between), ppm(sum.Changed), ppm(sum.churned)})
	}
	p := casestudy.Page{
		Title:  fmt.Sprintf("Rounds of %d GPUs, %d jobs", s.Spec.gpus, s.Spec.Jobs),
		Intro:  fmt.Sprintf("CPU milliseconds; %d rounds, seed %d. GAP is the worst distance to the best proven bound of a round.", s.Rounds, s.Spec.Seed),
		Tables: []casestudy.Table{speed, made}, Charts: []report.Lines{times, changes},
	}
	return p.Write(w)
}

func lines(engine string, all []Measurement) (times, changed report.Line) {
	times.Name, changed.Name = engine, engine
	for _, m := range all {
		if m.Engine == engine && m.Round >= warmUp {
			times.Y = append(times.Y, m.Total().Seconds()*1e3)
			changed.X, changed.Y = append(changed.X, float64(m.Round)), append(changed.Y, 1e6*float64(m.changed)/float64(m.pairs))
		}
	}
	slices.Sort(times.Y)
	for k := range times.Y {
		times.X = append(times.X, float64(k+1)/float64(len(times.Y)))
	}
	return times, changed
}
