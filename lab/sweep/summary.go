package sweep

import (
	"maps"
	"slices"
	"strings"

	"github.com/oxgang/oxgang/scheduler/metrics/statistics"
	"github.com/oxgang/oxgang/simulate/report"
)

const level = 0.95

// A Row has one measure of a policy in one cell of the grid, over all seeds.
type Row struct {
	Cell    []string // without policy and seed
	Policy  string
	Measure string
	Value   statistics.Interval
	// Against is the mean difference to the baseline, over seeds of both. The jobs were the same.
	Against  statistics.Interval
	Baseline float64 // over those seeds
}

// Verdict returns "less" or "more" if the difference to the baseline is more than chance, else "".
func (r *Row) Verdict() string {
	switch {
	case !r.Against.Known:
		return ""
	case r.Against.High < 0:
		return "less"
	case r.Against.Low > 0:
		return "more"
	}
	return ""
}

// Percent returns the difference to the baseline in percent, unless the baseline is 0.
func (r *Row) Percent() (percent float64, known bool) {
	if r.Against.N == 0 || r.Baseline == 0 {
		return 0, false
	}
	return 100 * r.Against.Mean / r.Baseline, true
}

// CellAxes returns the names of the settings that make a cell: all axes but policy and seed.
func (s *Sweep) CellAxes() []string {
	var names []string
	for _, a := range s.Axes {
		if a.Key != Policy && a.Key != Seed {
			names = append(names, a.Key)
		}
	}
	return names
}

// Summary returns a row for each cell, measure and completed policy.
func (s *Sweep) Summary(st *Status) []Row {
	cells, policies := s.cells(), s.policies()
	bySeed := make(map[string]*Record) // by cell, policy, seed
	for i, r := range s.runs {
		if st.Records[i] != nil {
			bySeed[r.cell+"\n"+r.Policy+"\n"+r.seed] = st.Records[i]
		}
	}
	var rows []Row
	for _, c := range cells {
		for _, m := range s.MeasuresOf(st) {
			for _, p := range policies {
				if row := s.row(c, p, m, bySeed); row.Value.N > 0 {
					rows = append(rows, row)
				}
			}
		}
	}
	return rows
}

func (s *Sweep) cells() []*Run {
	known := make(map[string]bool)
	var cells []*Run
	for _, r := range s.runs {
		if !known[r.cell] {
			known[r.cell] = true
			cells = append(cells, r)
		}
	}
	return cells
}

func (s *Sweep) row(cell *Run, policy, measure string, bySeed map[string]*Record) Row {
	row := Row{Policy: policy, Measure: measure}
	for i, a := range s.Axes {
		if a.Key != Policy && a.Key != Seed {
			row.Cell = append(row.Cell, cell.Settings[i])
		}
	}
	value := func(p, seed string) (float64, bool) {
		r := bySeed[cell.cell+"\n"+p+"\n"+seed]
		if r == nil {
			return 0, false
		}
		v, known := r.Measures[measure]
		return v, known
	}
	var values, differences, baseline []float64
	for _, seed := range s.axis(Seed).Values {
		v, known := value(policy, seed.Text)
		if !known {
			continue
		}
		values = append(values, v)
		if b, both := value(s.Baseline, seed.Text); both {
			differences, baseline = append(differences, v-b), append(baseline, b)
		}
	}
	row.Value, row.Against, row.Baseline = statistics.MeanInterval(values, level), statistics.MeanInterval(differences, level), statistics.MeanInterval(baseline, level).Mean
	return row
}

// MeasuresOf returns the requested measures, or all, in the order of reports and then by GPU type.
func (s *Sweep) MeasuresOf(st *Status) []string {
	if len(s.Measures) > 0 {
		return s.Measures
	}
	some := make(map[string]bool)
	for _, r := range st.Records {
		if r != nil {
			for name := range r.Measures {
				some[name] = true
			}
		}
	}
	var names []string
	for _, name := range report.MeasureNames() {
		if some[name] {
			names = append(names, name)
			delete(some, name)
		}
	}
	return append(names, slices.Sorted(maps.Keys(some))...)
}

func (s *Sweep) checkMeasures() error {
	for _, m := range s.Measures {
		if !report.IsMeasure(m) {
			return s.at(s.lines["measures."+m], "measures: unknown measure %q, want some of %s", m, strings.Join(report.MeasureNames(), ", "))
		}
	}
	return nil
}
