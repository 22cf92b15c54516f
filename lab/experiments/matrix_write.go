package experiments

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/oxgang/oxgang/scheduler/metrics"
)

// Write writes the results as Markdown: mean completion times by policy and family, and all metrics for each family,
// with the best in bold. The reason for a cell without values is below its table.
func (m *PolicyMatrix) Write(w io.Writer, cells []Cell) error {
	t := &matrixWriter{cells: cells}
	t.line("# Every policy on every family of workloads")
	t.line("")
	t.line("This page compares all [policies](../policies.md) on many kinds of workloads, the families. The first table has mean")
	t.line("completion times; each family has a section with the other figures. A family is a set of traces or seeds, on which all")
	t.line("policies run with the same configuration (`lab/experiments/matrix/families.yaml`). Lower is better in every column, and the")
	t.line("best value is bold. `oxgang lab matrix --write docs/experiments/matrix.md` writes this page.")
	t.line("")
	t.line("JCT is the completion time of a job, from submission to end. rho is the JCT divided by the time in a fair share of the")
	t.line("cluster: a job with a rho above 1 was treated unfairly. Figures are means over the runs of a family, except three: p99 JCT")
	t.line("and the share of unfair jobs count all runs together, and worst rho is the highest of any job. GPU-hours include the measurement")
	t.line("of speeds, and the time from the end of a job to the end of its round.")
	t.line("Later: jobs that finish %s later than under %s, of the same trace and seed. The longest wait is until the", metrics.LaterRule, matrixBaseline)
	t.line("first start, of the largest jobs of the family.")
	t.line("The policies boa and pollux-autoscale rent their nodes, without a limit or budget. All other policies own their nodes.")
	t.line("")
	for _, d := range m.Defaults {
		t.line("%s: %s.", strings.Join(d.Policies, ", "), d.Why)
		t.line("")
	}
	t.cross()
	for _, f := range m.Families {
		t.family(&f)
	}
	_, err := io.WriteString(w, t.text.String())
	return err
}

type matrixWriter struct {
	cells []Cell
	markdown
}

type markdown struct{ text strings.Builder }

func (t *markdown) line(format string, args ...any) { fmt.Fprintf(&t.text, format+"\n", args...) }

func (t *markdown) row(cells []string) { t.line("| %s |", strings.Join(cells, " | ")) }

func (t *markdown) head(cells []string) {
	t.row(cells)
	t.row(slices.Repeat([]string{"---"}, len(cells)))
}

func (t *matrixWriter) names(of func(*Cell) string) []string {
	var all []string
	for i := range t.cells {
		if name := of(&t.cells[i]); !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

func (t *matrixWriter) find(family, policy string) *Cell {
	i := slices.IndexFunc(t.cells, func(c Cell) bool { return c.Family == family && c.Policy == policy })
	if i < 0 {
		return nil
	}
	return &t.cells[i]
}

func (t *matrixWriter) best(family string, metric int) float64 {
	least := math.Inf(1)
	for i := range t.cells {
		if c := &t.cells[i]; c.Family == family && c.Values != nil && !math.IsNaN(c.Values[metric]) {
			least = min(least, c.Values[metric])
		}
	}
	return least
}

func (t *matrixWriter) cross() {
	families := t.names(func(c *Cell) string { return c.Family })
	t.line("## Mean completion time, hours")
	t.line("")
	t.head(append([]string{"Policy"}, families...))
	for _, p := range t.names(func(c *Cell) string { return c.Policy }) {
		row := []string{"`" + p + "`"}
		for _, f := range families {
			row = append(row, t.figure(t.find(f, p), f, 0))
		}
		t.row(row)
	}
	t.line("")
	t.line("–: not every job ended; the reason is below the table of that family.")
}

func (t *matrixWriter) figure(c *Cell, family string, metric int) string {
	switch {
	case c == nil:
		return ""
	case c.Values == nil || math.IsNaN(c.Values[metric]):
		return "–"
	}
	text := fmt.Sprintf("%.3g", c.Values[metric])
	if c.Values[metric] == t.best(family, metric) {
		return "**" + text + "**"
	}
	return text
}

func (t *matrixWriter) family(f *Family) {
	if !slices.ContainsFunc(t.cells, func(c Cell) bool { return c.Family == f.Name }) {
		return
	}
	t.line("")
	t.line("## %s", f.Name)
	t.line("")
	t.line("%s.", strings.ToUpper(f.Title[:1])+f.Title[1:])
	t.line("")
	t.head([]string{"Policy", "mean JCT, h", "p99 JCT, h", "makespan, h", "worst rho", "rho > 1, %", "GPU-hours a job", "restarts a job", "later than " + matrixBaseline + ", %", "longest wait, h", "of jobs of"})
	var why []string
	for i := range t.cells {
		c := &t.cells[i]
		if c.Family != f.Name {
			continue
		}
		row := []string{"`" + c.Policy + "`"}
		for k := range matrixMetrics() {
			row = append(row, t.figure(c, f.Name, k))
		}
		row = append(row, later(c))
		row = append(row, longestWait(c)...)
		if t.row(row); c.Why != "" {
			why = append(why, fmt.Sprintf("- `%s`: %d of %d jobs ended: %s", c.Policy, c.Ended, c.Jobs, c.Why))
		}
	}
	if len(why) > 0 {
		t.line("")
		t.line("%s", strings.Join(why, "\n"))
	}
}

func later(c *Cell) string {
	if c.Delays == nil || c.Delays.Compared == 0 {
		return "–"
	}
	return fmt.Sprintf("%.3g", 100*c.Delays.Share())
}

func longestWait(c *Cell) []string {
	for i := len(c.Waits) - 1; i >= 0; i-- {
		if w := &c.Waits[i]; w.Jobs > 0 {
			return []string{fmt.Sprintf("%.3g", w.Longest/3600), w.Size.String()}
		}
	}
	return []string{"–", "–"}
}
