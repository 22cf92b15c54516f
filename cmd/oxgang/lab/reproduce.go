// Package lab has the commands below "oxgang lab", for papers and comparisons.
package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/cmd/oxgang/simulate"
	"github.com/oxgang/oxgang/internal/usage"
	"github.com/oxgang/oxgang/lab/experiments"
)

var formats = []string{"table", "json", "yaml"}

type reproduction struct {
	data   string
	format string
	record string
	ci     bool
	quick  bool
	all    bool
}

func reproduceCommand() *cobra.Command {
	var r reproduction
	cmd := &cobra.Command{
		Use:   "reproduce [PAPER | EXPERIMENT...]",
		Short: "Run experiments of papers, and compare with the published numbers",
		Long: `Run experiments of papers, and compare with the published numbers. The exit status is 1 if a number
is outside the band around the published number. Experiments oxgang/... have targets instead.
An interrupted command continues where it stopped when you repeat it.

Without arguments, list the tables and figures of the papers: the experiments that reproduce them,
their processor time ("quick" if --quick runs them), and how many numbers of the stored runs are
outside their bands.`,
		Example: `  oxgang lab reproduce sia/table-3.3
  oxgang lab reproduce lyra 'sia/fig-*'
  oxgang lab reproduce --quick`,
		ValidArgs: experiments.Names(),
		RunE:      r.run,
	}
	f := cmd.Flags()
	f.StringVar(&r.data, "data", "../shared/data", "directory of the shared data")
	cli.Output(cmd, &r.format, formats...)
	f.BoolVar(&r.ci, "ci", false, "run the experiments of the CI gate")
	f.BoolVar(&r.quick, "quick", false, "run the experiments of all papers that fit into ten minutes of processor time")
	f.BoolVar(&r.all, "all", false, "run all experiments")
	f.StringVar(&r.record, "record", "", "folder to store the results in, as lab/experiments/results")
	return cmd
}

func (r *reproduction) run(cmd *cobra.Command, patterns []string) error {
	if err := cli.CheckOutput(r.format, formats...); err != nil {
		return err
	}
	chosen, err := r.choose(patterns)
	if err != nil {
		return err
	}
	if len(chosen) == 0 {
		return list(cmd.OutOrStdout())
	}
	parts := partsFolder(chosen)
	outside := 0
	for i, e := range chosen {
		found, err := r.reproduce(cmd, e, parts, len(chosen)-i-1)
		if err != nil {
			return err
		}
		for _, f := range found {
			if f.Verdict == experiments.Outside {
				outside++
			}
		}
	}
	if err := parts.Remove(); err != nil {
		return err
	}
	if outside > 0 {
		return fmt.Errorf("figures outside their bands: %d", outside)
	}
	return nil
}

// partsFolder returns a folder for the finished simulations of this choice; "" if the user has no cache folder.
func partsFolder(chosen []*experiments.Experiment) experiments.Parts {
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return experiments.Parts(filepath.Join(cache, "oxgang", "reproduce", fmt.Sprintf("%s-%d", strings.ReplaceAll(chosen[0].Name, "/", "-"), len(chosen))))
}

func (r *reproduction) reproduce(cmd *cobra.Command, e *experiments.Experiment, parts experiments.Parts, left int) ([]experiments.Finding, error) {
	began, earlier := usage.ProcessTime(), parts.Spent(e.Name)
	spent := func() time.Duration { return earlier + usage.ProcessTime() - began }
	report := func(e *experiments.Experiment, done, of int) error {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: %d of %d runs%s\n", e.Name, done, of, expected(e, done, left))
		return parts.SetSpent(e.Name, spent())
	}
	found, err := e.Reproduce(cmd.Context(), experiments.Options{Files: cli.OsFiles(), Data: r.data, Parts: parts, Report: report})
	if errors.Is(err, context.Canceled) {
		return nil, cli.Hinted(fmt.Errorf("%s: interrupted", e.Name), "repeat the command to continue")
	}
	if err != nil {
		return nil, err
	}
	if err := r.print(cmd.OutOrStdout(), e, found); err != nil || r.record == "" {
		return found, err
	}
	return found, r.store(cmd.Context(), e, found, spent())
}

func expected(e *experiments.Experiment, done, left int) string {
	text := ""
	if rec, err := experiments.FindRecord(e.Name); err == nil && rec != nil && done == 0 {
		text = fmt.Sprintf(", about %s of processor time", rec.Time())
	}
	if done == 0 && left > 0 {
		text += fmt.Sprintf("; experiments after this: %d", left)
	}
	return text
}

func (r *reproduction) store(ctx context.Context, e *experiments.Experiment, found []experiments.Finding, took time.Duration) error {
	commit, err := exec.CommandContext(ctx, "git", "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return fmt.Errorf("commit of the record: git rev-parse: %w", err)
	}
	rec, err := e.NewRecord(found, strings.TrimSpace(string(commit)), took.Seconds())
	if err != nil {
		return err
	}
	path := filepath.Join(r.record, experiments.RecordFile(e.Name))
	if f, err := os.Open(path); err == nil {
		defer f.Close()
		if earlier, err := experiments.ReadRecord(e.Name, f); err == nil {
			rec.After(earlier)
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return cli.Whole(path, rec.Write)
}

func (r *reproduction) choose(patterns []string) ([]*experiments.Experiment, error) {
	if ways := btoi(r.ci) + btoi(r.quick) + btoi(r.all) + min(1, len(patterns)); ways > 1 {
		return nil, cli.Misused("got --ci=%v, --quick=%v, --all=%v and experiments %q: use one of them", r.ci, r.quick, r.all, patterns)
	}
	names, err := r.names(patterns)
	if err != nil {
		return nil, err
	}
	var chosen []*experiments.Experiment
	for _, name := range names {
		e, err := experiments.Find(name)
		if err != nil {
			return nil, cli.Usage(err)
		}
		if !r.ci || e.CI {
			chosen = append(chosen, e)
		}
	}
	if r.ci && len(chosen) == 0 {
		return nil, errors.New("no experiment is marked ci")
	}
	return chosen, nil
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (r *reproduction) names(patterns []string) ([]string, error) {
	switch {
	case r.ci, r.all:
		return experiments.Names(), nil
	case r.quick:
		return experiments.Quick()
	}
	var names []string
	for _, pattern := range patterns {
		matched, err := experiments.Match(pattern)
		if err != nil {
			return nil, cli.Usage(err)
		}
		for _, name := range matched {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names, nil
}

func list(w io.Writer) error {
	papers, err := experiments.Papers()
	if err != nil {
		return err
	}
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "PAPER\tFIGURE\tEXPERIMENT\tCPU TIME\tOUTSIDE\tSHOWS")
	for _, p := range papers {
		for i := range p.Figures {
			if err := listFigure(tab, p.Name, &p.Figures[i]); err != nil {
				return err
			}
		}
	}
	own, err := experiments.Match("oxgang")
	if err != nil {
		return err
	}
	for _, name := range own {
		e, err := experiments.Find(name)
		if err != nil {
			return err
		}
		figure := experiments.PaperFigure{Figure: "-", Shows: e.Title, Run: []string{name}}
		if err := listFigure(tab, "oxgang", &figure); err != nil {
			return err
		}
	}
	return tab.Flush()
}

// listFigure writes a line for each experiment of a figure, or one with its test or why nothing runs.
func listFigure(w io.Writer, paper string, f *experiments.PaperFigure) error {
	switch {
	case len(f.Run) > 0:
	case f.Test != "":
		fmt.Fprintf(w, "%s\t%s\ta Go test\t\t\t%s\n", paper, f.Figure, f.Shows)
	default:
		fmt.Fprintf(w, "%s\t%s\t-\t\t\t%s (%s)\n", paper, f.Figure, f.Shows, f.Why)
	}
	for i, name := range f.Run {
		outside, cpu, err := experiments.Stored(name)
		if err != nil {
			return err
		}
		shows := ""
		if i == 0 {
			shows = f.Shows
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", paper, f.Figure, name, cpu, outside, shows)
	}
	return nil
}

func (r *reproduction) print(w io.Writer, e *experiments.Experiment, found []experiments.Finding) error {
	switch r.format {
	case "json":
		return json.NewEncoder(w).Encode(found)
	case "yaml":
		if _, err := fmt.Fprintln(w, "---"); err != nil {
			return err
		}
		return cli.Write(w, r.format, found)
	}
	fmt.Fprintf(w, "%s: %s (%s)\n", e.Name, e.Title, e.Source)
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "  ROW\tMETRIC\tOURS\tPUBLISHED OR TARGET\tVERDICT")
	for _, f := range found {
		fmt.Fprintf(tab, "  %s\t%s\t%.4g\t%s\t%s\n", f.Row, f.Metric, f.Ours, f.Band, f.Verdict)
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	for i, f := range found {
		if f.Why != "" && (i == 0 || f.Why != found[i-1].Why) {
			fmt.Fprintf(w, "  why outside, %s: %s\n", f.Row, f.Why)
		}
	}
	for _, note := range e.Notes {
		fmt.Fprintf(w, "  note: %s\n", note)
	}
	_, err := fmt.Fprintln(w)
	return err
}

// Command returns the command "oxgang lab".
func Command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lab",
		Short: "Reproduce papers, compare policies, and measure solvers",
	}
	cmd.AddCommand(reproduceCommand(), matrixCommand(), simulate.GymCommand(), profileCommand(), solversCommand())
	for _, name := range solverCases {
		cmd.AddCommand(cli.Renamed(name, "lab solvers "+name))
	}
	cli.Group(cmd)
	return cmd
}
