package sweep

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/scheduler/metrics/statistics"
	"github.com/oxgang/oxgang/simulate/report/tabular"
)

// WriteSummary writes a table: cell, policy, measure; seeds, mean and 95 % interval; and against the baseline
// pairs, mean difference, interval and per cent.
func (s *Sweep) WriteSummary(w io.Writer, f tabular.Format, st *Status) error {
	columns := s.columns(s.CellAxes())
	for _, name := range []string{Policy, "measure"} {
		columns = append(columns, tabular.Column{Name: name, Type: tabular.Text})
	}
	for _, name := range []string{"seeds", "mean", "low", "high", "pairs", "diff", "diff_low", "diff_high", "diff_pct"} {
		typ := tabular.Number
		if name == "seeds" || name == "pairs" {
			typ = tabular.Integer
		}
		columns = append(columns, tabular.Column{Name: name, Type: typ})
	}
	columns = append(columns, tabular.Column{Name: "verdict", Type: tabular.Text})
	rows := s.Summary(st)
	return written(w, f, columns, len(rows), func(i int) []any {
		r := &rows[i]
		row := append(cells(columns, r.Cell), r.Policy, r.Measure)
		row = append(append(row, cellsOf(&r.Value)...), cellsOf(&r.Against)...)
		percent, known := r.Percent()
		return append(row, orNil(percent, known), r.Verdict())
	})
}

// WriteRuns writes a row for each completed run: axes, key and measures.
func (s *Sweep) WriteRuns(w io.Writer, f tabular.Format, st *Status) error {
	var axes []string
	for _, a := range s.Axes {
		axes = append(axes, a.Key)
	}
	columns, measures := s.columns(axes), s.MeasuresOf(st)
	columns = append(columns, tabular.Column{Name: "key", Type: tabular.Text})
	for _, m := range measures {
		columns = append(columns, tabular.Column{Name: m, Type: tabular.Number})
	}
	var done []int
	for i, r := range st.Records {
		if r != nil {
			done = append(done, i)
		}
	}
	return written(w, f, columns, len(done), func(i int) []any {
		rec := st.Records[done[i]]
		row := append(cells(columns, s.runs[done[i]].Settings), rec.Key)
		for _, m := range measures {
			v, known := rec.Measures[m]
			row = append(row, orNil(v, known))
		}
		return row
	})
}

func written(w io.Writer, f tabular.Format, columns []tabular.Column, rows int, row func(int) []any) error {
	t, err := tabular.New(w, f, columns)
	if err != nil {
		return err
	}
	for i := range rows {
		if err := t.Row(row(i)...); err != nil {
			return err
		}
	}
	return t.Close()
}

func (s *Sweep) columns(axes []string) []tabular.Column {
	all := make([]tabular.Column, len(axes))
	for i, key := range axes {
		all[i] = tabular.Column{Name: key, Type: tabular.Integer}
		for _, v := range s.axis(key).Values {
			if _, err := strconv.ParseInt(v.Text, 10, 64); err != nil && all[i].Type == tabular.Integer {
				all[i].Type = tabular.Number
			}
			if _, err := strconv.ParseFloat(v.Text, 64); err != nil {
				all[i].Type = tabular.Text
			}
		}
	}
	return all
}

func cells(columns []tabular.Column, texts []string) []any {
	row := make([]any, len(texts), len(columns))
	for i, text := range texts {
		switch columns[i].Type {
		case tabular.Integer:
			row[i], _ = strconv.ParseInt(text, 10, 64)
		case tabular.Number:
			row[i], _ = strconv.ParseFloat(text, 64)
		default:
			row[i] = text
		}
	}
	return row
}

func cellsOf(i *statistics.Interval) []any {
	return []any{int64(i.N), orNil(i.Mean, i.N > 0), orNil(i.Low, i.Known), orNil(i.High, i.Known)}
}

func orNil(v float64, known bool) any {
	if !known {
		return nil
	}
	return v
}

// WriteText prints a line per cell, policy and requested measure, by default the mean completion time.
func (s *Sweep) WriteText(w io.Writer, st *Status) error {
	shown := s.Measures
	if len(shown) == 0 {
		shown = []string{"jct_mean_h"}
	}
	var out bytes.Buffer
	t := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	var header []string
	for _, name := range append(s.CellAxes(), Policy, "measure", "seeds", "mean", "95 %") {
		header = append(header, strings.ToUpper(name))
	}
	fmt.Fprintf(t, "%s\tAGAINST %s\t95 %%\t\n", strings.Join(header, "\t"), s.Baseline)
	for _, r := range s.Summary(st) {
		if !slices.Contains(shown, r.Measure) {
			continue
		}
		line := append(slices.Clone(r.Cell), r.Policy, r.Measure, strconv.Itoa(r.Value.N), short(r.Value.Mean), rangeText(&r.Value))
		if r.Policy == s.Baseline {
			line = append(line, "", "")
		} else {
			line = append(line, r.against(), rangeText(&r.Against))
		}
		for i := range line {
			line[i] = printable.Line(line[i])
		}
		fmt.Fprintf(t, "%s\t%s\n", strings.Join(line, "\t"), r.Verdict())
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for line := range strings.Lines(out.String()) {
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}

func (r *Row) against() string {
	if r.Against.N == 0 {
		return "-"
	}
	text := short(r.Against.Mean)
	if percent, known := r.Percent(); known {
		text += fmt.Sprintf(" (%+.1f %%)", percent)
	}
	return text
}

func rangeText(i *statistics.Interval) string {
	if !i.Known {
		return "-"
	}
	return short(i.Low) + " to " + short(i.High)
}

func short(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }
