package simulate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/scheduler/metrics/statistics"
	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/history"
	"github.com/oxgang/oxgang/simulate/report"
	"github.com/oxgang/oxgang/simulate/run"
)

type reporting struct {
	format, html string
	above        float64
	quiet        bool
	title        string
	out, tables  string
	stage        *cli.Stage
	facts        []string
	stderr       io.Writer
}

// ReportCommand returns the command "oxgang report".
func ReportCommand() *cobra.Command {
	var r reporting
	cmd := &cobra.Command{
		Use:   "report JOURNAL...",
		Short: "Compare recorded runs",
		Long: `Compare recorded runs with the table and HTML report of simulate, from its journals. Fairness
needs the trace and profiles named in a journal; without them it is omitted. Policy times are
not recorded.

` + report.Conventions,
		Example: `  oxgang simulate --policy sia,fifo --out run/
  oxgang report run/sia.oxj run/fifo.oxj
  oxgang report run/*.oxj --fairness-above 1.1 -o csv`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || slices.Contains(args, "-") {
				return cli.Usage(cli.Hinted(fmt.Errorf("%s needs journals, got %q", cmd.CommandPath(), args), "simulate --out writes them: run/sia.oxj"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			r.stderr = cmd.ErrOrStderr()
			if !slices.Contains(formatNames(), r.format) {
				return cli.CheckOutput(r.format, formatNames()...)
			}
			if cmd.Flags().Changed("fairness-above") && !(r.above > 0) {
				return cli.Misused("--fairness-above %v, want more than 0", r.above)
			}
			return r.run(cmd, args)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&r.format, "output", "o", "table", "table, wide, json, yaml or csv")
	cli.Complete(cmd, "output", formatNames())
	f.StringVar(&r.html, "report", "oxgang-report.html", "HTML report; empty: none")
	f.Float64Var(&r.above, "fairness-above", 0, "rho above which a job counts as unfair; 0: as in the first journal")
	f.StringVar(&r.out, "out", "", "directory for tables of jobs, rounds and allocations of each journal; see --results")
	f.StringVar(&r.tables, "results", "parquet", "format of the tables: csv or parquet")
	cli.Complete(cmd, "results", []string{"csv", "parquet"})
	f.BoolVarP(&r.quiet, "quiet", "q", false, "print no notes")
	return cmd
}

func (r *reporting) run(cmd *cobra.Command, files []string) (err error) {
	if r.out != "" {
		if _, err := report.ParseTableFormat(r.tables); err != nil {
			return cli.Usage(fmt.Errorf("results: %w", err))
		}
		if r.stage, err = cli.NewStage(r.out); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, r.stage.Discard()) }()
	}
	runs, err := r.runs(cmd.Context(), files)
	if err != nil {
		return err
	}
	if r.stage != nil {
		if err := r.stage.Publish(); err != nil {
			return err
		}
	}
	return r.write(cmd.OutOrStdout(), runs)
}

func (r *reporting) recorded(file string, j *journal.Reader, c *config.Config, in *run.Inputs) (result *run.Run, err error) {
	o := new(output)
	if r.stage != nil {
		name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
		create := func(table string) (io.WriteCloser, error) { return r.stage.Create(name + "." + table) }
		h := j.Header()
		of := report.RunName{Run: name, Policy: h.Policy, Seed: h.Seed}
		if o.tables, err = report.NewResults(create, of, report.TableFormat(r.tables)); err != nil {
			return nil, err
		}
	}
	result, err = run.RecordedStreaming(j, c, in, o.stream())
	return result, errors.Join(err, o.close())
}

func (r *reporting) runs(ctx context.Context, files []string) ([]report.Run, error) {
	var runs []report.Run
	var trials []statistics.Trial
	of := map[string]int{}
	for _, file := range files {
		run, seed, err := r.read(ctx, file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		of[run.Policy]++
		name := run.Policy
		if run.Unfinished {
			name += unfinished
		}
		runs = append(runs, report.Run{Name: name, Policy: run.Policy, Result: run.Result})
		t := report.Trial(run.Policy, seed, run.Result)
		t.Ended = t.Ended && !run.Unfinished
		trials = append(trials, t)
	}
	for i, file := range files {
		if policy, cut := strings.CutSuffix(runs[i].Name, unfinished); of[policy] > 1 {
			runs[i].Name = file
			if cut {
				runs[i].Name += unfinished
			}
		}
	}
	decide(runs, trials)
	return runs, nil
}

func decide(runs []report.Run, trials []statistics.Trial) {
	type key struct {
		policy string
		seed   uint64
	}
	of := make(map[key]int)
	for i := range trials {
		of[key{runs[i].Policy, trials[i].Seed}]++
	}
	for i := range trials {
		if of[key{runs[i].Policy, trials[i].Seed}] > 1 {
			runs[i].Policy, trials[i].Policy = runs[i].Name, runs[i].Name
		}
	}
	v := report.Verdict(trials, history.DefaultBaseline)
	for i := range runs {
		runs[i].Compare(trials[i:i+1], baseline(trials, history.DefaultBaseline))
		if len(v.Policies) > 0 {
			runs[i].Verdict = v
		}
	}
}

func (r *reporting) read(ctx context.Context, file string) (run *run.Run, seed uint64, err error) {
	j, f, err := cli.OpenJournal(ctx, file)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	seed = j.Header().Seed
	run, why := r.judged(ctx, file)
	if why == nil {
		return run, seed, nil
	}
	run, err = r.recorded(file, j, nil, nil)
	if err == nil {
		r.warn(file, j)
	}
	if err == nil && !r.quiet {
		fmt.Fprintf(r.stderr, "%s: no fairness: %v\n", file, why)
	}
	return run, seed, err
}

func (r *reporting) judged(ctx context.Context, file string) (*run.Run, error) {
	j, f, err := cli.OpenJournal(ctx, file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := j.Header()
	c, in, err := run.Origin(&h, cli.FilesUntil(ctx))
	if err != nil {
		return nil, err
	}
	r.judge(c, &h)
	run, err := r.recorded(file, j, c, in)
	if err == nil {
		r.warn(file, j)
	}
	return run, err
}

func (r *reporting) warn(file string, j *journal.Reader) {
	if !j.Sealed() && !r.quiet {
		fmt.Fprintf(r.stderr, "%s: %s\n", file, journal.Unverified)
	}
}

func (r *reporting) judge(c *config.Config, h *journal.Header) {
	if r.above == 0 {
		r.above = c.Fairness.Above
	}
	c.Fairness.Above = r.above
	if r.title == "" {
		r.title, r.facts = title(c), facts(c, "recorded by "+h.Tool)
	}
}

func (r *reporting) write(stdout io.Writer, runs []report.Run) error {
	if r.html != "" {
		page := func(w io.Writer) error {
			return report.HTML(w, report.Input{Title: r.title, Facts: r.facts, Runs: runs})
		}
		if err := cli.Whole(r.html, page); err != nil {
			return err
		}
		if !r.quiet {
			fmt.Fprintf(r.stderr, "report: %s\n", r.html)
		}
	}
	return report.Table(stdout, runs, report.Format(r.format))
}
