package budget

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"go.yaml.in/yaml/v3"

	"github.com/oxgang/oxgang/internal/printable"
)

// Formats are the formats in which plans and frontiers can be written.
var Formats = []string{"table", "json", "yaml", "csv"}

// Write prints a plan in one of Formats. CSV has a row for each sequence of epochs with equal GPUs.
func (p *Plan) Write(w io.Writer, format string) error {
	switch format {
	case "json":
		return writeJSON(w, p)
	case "yaml":
		return writeYAML(w, p)
	case "csv":
		return writeCSV(w, p.rows())
	}
	return p.writeText(w)
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func writeYAML(w io.Writer, v any) error {
	e := yaml.NewEncoder(w)
	e.SetIndent(2)
	if err := e.Encode(v); err != nil {
		return err
	}
	return e.Close()
}

func writeCSV(w io.Writer, rows [][]string) error {
	if err := csv.NewWriter(w).WriteAll(rows); err != nil {
		return fmt.Errorf("csv: %w", err)
	}
	return nil
}

func exact(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

func (p *Plan) rows() [][]string {
	rows := [][]string{{"class", "share", "first_epoch", "last_epoch", "gpus", "nodes", "gpu_type", "offer"}}
	for _, c := range p.Classes {
		for _, t := range c.Tables {
			for _, r := range t.Runs {
				rows = append(rows, []string{
					printable.Cell(c.Name), exact(t.Share), strconv.Itoa(r.First), strconv.Itoa(r.Last),
					strconv.Itoa(r.GPUs), strconv.Itoa(r.Nodes), printable.Cell(string(r.GPUType)), printable.Cell(r.Offer),
				})
			}
		}
	}
	return rows
}

func (p *Plan) writeText(w io.Writer) error {
	u := unit(p.Currency)
	if err := aligned(w, [][]string{
		{"prices", p.Prices},
		{"budget", u.long(p.Budget)},
		{"spent of it", u.long(p.Spend)},
		{"mean completion time", p.Simulated.words()},
		{"by the model", formatSeconds(p.MeanJCT) + ", which ignores node starts, whole nodes and feedback"},
		{"", oneMore(p.Currency, p.OneMore, p.MeanJCT)},
		{"smallest feasible budget", u.atLeast(p.Least)},
		{"largest useful budget", u.atLeast(p.Most)},
		{"GPUs in use", inUse(p.Use)},
		{"speeds", repaired(p.Repaired, p.Epochs)},
	}); err != nil {
		return err
	}
	fmt.Fprintln(w)
	return p.writeClasses(w)
}

func oneMore(currency string, buys, mean float64) string {
	what := "one more GPU"
	if currency != "" {
		what = currency + "1 a day more"
	}
	if buys == 0 {
		return what + " would buy nothing"
	}
	return fmt.Sprintf("%s would shorten it by %s (%.2g %%)", what, formatSeconds(buys), 100*buys/mean)
}

func repaired(some, all int) string {
	if some == 0 {
		return fmt.Sprintf("in all %d epochs speeds grow evenly with GPUs", all)
	}
	return fmt.Sprintf("in %d of %d epochs speeds do not grow evenly with GPUs; sizes that are not worth their price are left out", some, all)
}

func inUse(use []Use) string {
	var parts []string
	for _, u := range use {
		if u.GPUs > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", figure(u.GPUs), u.named()))
		}
	}
	return strings.Join(parts, ", ")
}

func (u *Use) named() string {
	if u.Offer == string(u.GPUType) {
		return u.Offer
	}
	return fmt.Sprintf("%s (%s)", u.GPUType, u.Offer)
}

func (p *Plan) writeClasses(w io.Writer) error {
	rows := [][]string{{"CLASS", "JOBS/H", "MEAN JCT", "OF ITS JOBS", "EPOCHS", "GPUS PER JOB", "OFFER"}}
	for i := range p.Classes {
		rows = append(rows, p.Classes[i].lines()...)
	}
	if err := aligned(w, rows); err != nil {
		return err
	}
	for _, c := range p.Classes {
		if c.Guessed != "" {
			fmt.Fprintf(w, "guessed of %s: %s\n", c.Name, c.Guessed)
		}
	}
	return nil
}

func (c *Class) lines() [][]string {
	var rows [][]string
	head := []string{c.Name, figure(c.Jobs), formatSeconds(c.MeanJCT)}
	for _, t := range c.Tables {
		share := percent(t.Share)
		for _, r := range t.Runs {
			use := Use{Offer: r.Offer, GPUType: r.GPUType}
			rows = append(rows, append(head, share, r.epochs(), strconv.Itoa(r.GPUs), use.named()))
			head, share = []string{"", "", ""}, ""
		}
	}
	return rows
}

func aligned(w io.Writer, rows [][]string) error {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for line := range strings.Lines(b.String()) {
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}

func percent(share float64) string {
	if share == 1 {
		return "all"
	}
	return fmt.Sprintf("%.1f %%", min(max(100*share, 0.1), 99.9))
}

func (r *Run) epochs() string {
	if r.First == r.Last {
		return strconv.Itoa(r.First)
	}
	return fmt.Sprintf("%d-%d", r.First, r.Last)
}

type record struct {
	Prices     string  `json:"prices" yaml:"prices"`
	Currency   string  `json:"currency" yaml:"currency"`
	Budget     float64 `json:"budget_per_hour" yaml:"budget_per_hour"`
	MeanJCT    float64 `json:"mean_jct_s" yaml:"mean_jct_s"`
	Multiplier float64 `json:"s_per_unit_per_hour" yaml:"s_per_unit_per_hour"`
	Knee       bool    `json:"knee" yaml:"knee"`
}

// WriteFrontiers prints frontiers in one of Formats. Only the table omits points.
func WriteFrontiers(w io.Writer, all []*Frontier, format string) error {
	switch format {
	case "json":
		return writeJSON(w, records(all))
	case "yaml":
		return writeYAML(w, records(all))
	case "csv":
		return writeCSV(w, frontierRows(all))
	}
	for i, f := range all {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := f.writeText(w); err != nil {
			return err
		}
	}
	return nil
}

func records(all []*Frontier) []record {
	var out []record
	for _, f := range all {
		for i, b := range f.Points {
			l := f.Planner.Prices
			out = append(out, record{l.Name, l.Currency, b.Budget, b.MeanJCT, b.Multiplier, i == f.Knee})
		}
	}
	return out
}

func frontierRows(all []*Frontier) [][]string {
	rows := [][]string{{"prices", "currency", "budget_per_hour", "mean_jct_s", "s_per_unit_per_hour", "knee"}}
	for _, r := range records(all) {
		rows = append(rows, []string{r.Prices, r.Currency, exact(r.Budget), exact(r.MeanJCT), exact(r.Multiplier), strconv.FormatBool(r.Knee)})
	}
	return rows
}

func (f *Frontier) writeText(w io.Writer) error {
	shown := f.rows()
	fmt.Fprintf(w, "%s: %d of the %d points where the frontier bends\n%s\n", f.Planner.Prices.Name, len(shown), len(f.Points), repaired(f.Planner.Repaired, f.Planner.Epochs))
	rows := [][]string{f.head()}
	for _, s := range shown {
		rows = append(rows, f.row(s))
	}
	return aligned(w, rows)
}

func (f *Frontier) head() []string {
	c := f.Planner.Prices.Currency
	if c == "" {
		return []string{"BUDGET (GPUS)", "GPU-HOURS A DAY", "MEAN JCT", "1 GPU MORE", "GPUS IN USE", "NOTE"}
	}
	return []string{"BUDGET A DAY (" + c + ")", "A MONTH (" + c + ")", "MEAN JCT", c + "1 A DAY MORE", "GPUS IN USE", "NOTE"}
}

func (f *Frontier) row(s *shown) []string {
	first, second := s.Budget*day, s.Budget*month
	if f.Planner.Prices.Currency == "" {
		first, second = s.Budget, s.Budget*day
	}
	return []string{figureUp(first), figureUp(second), formatSeconds(s.MeanJCT), shortened(s.OneMore), inUse(s.Use), f.note(s)}
}

func shortened(seconds float64) string {
	if seconds == 0 {
		return "-"
	}
	return "-" + formatSeconds(seconds)
}

func (f *Frontier) note(s *shown) string {
	var notes []string
	if s.Budget == f.least().Budget {
		notes = append(notes, "smallest feasible")
	}
	if s.Knee {
		notes = append(notes, "knee")
	}
	if s.Budget == f.most().Budget {
		notes = append(notes, "largest useful")
	}
	return strings.Join(notes, ", ")
}
