package rounds

import (
	"fmt"
	"io"
	"slices"

	"github.com/oxgang/oxgang/lab/casestudy"
	"github.com/oxgang/oxgang/simulate/report"
)

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
		took, changed := lines(sum.Engine, all)
		times.Lines, changes.Lines = append(times.Lines, took), append(changes.Lines, changed)
		speed.Rows = append(speed.Rows, []string{
			sum.Engine, ms(sum.Cold), ms(sum.Edit), ms(sum.Solve), ms(sum.Shim), ms(sum.P50), ms(sum.P90), ms(sum.P99),
			fmt.Sprintf("%.6g", sum.Value), fmt.Sprintf("%.1e", sum.Gap), fmt.Sprintf("%.2g", sum.Violation), fmt.Sprintf("%.1f", float64(sum.HeapBytes)/1e6),
		})
		made.Rows = append(made.Rows, []string{sum.Engine, ppm(sum.Ones), ppm(sum.Between), ppm(sum.Changed), ppm(sum.Churned)})
	}
	p := casestudy.Page{
		Title:  fmt.Sprintf("Rounds of %d GPUs, %d jobs", s.Spec.GPUs, s.Spec.Jobs),
		Intro:  fmt.Sprintf("CPU milliseconds; %d rounds, seed %d. GAP is the worst distance to the best proven bound of a round.", s.Rounds, s.Spec.Seed),
		Tables: []casestudy.Table{speed, made}, Charts: []report.Lines{times, changes},
	}
	return p.Write(w)
}

func lines(engine string, all []Measurement) (times, changed report.Line) {
	times.Name, changed.Name = engine, engine
	for _, m := range all {
		if m.Engine == engine && m.Round >= WarmUp {
			times.Y = append(times.Y, m.Total().Seconds()*1e3)
			changed.X, changed.Y = append(changed.X, float64(m.Round)), append(changed.Y, 1e6*float64(m.Changed)/float64(m.Pairs))
		}
	}
	slices.Sort(times.Y)
	for k := range times.Y {
		times.X = append(times.X, float64(k+1)/float64(len(times.Y)))
	}
	return times, changed
}
