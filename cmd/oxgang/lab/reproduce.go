package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/lab/experiments"
)

var formats = []string{"table", "json", "yaml"}

type reproduction struct {
	data   string
	format string
	ci     bool
	all    bool
}

func reproduceCommand() *cobra.Command {
	var r reproduction
	cmd := &cobra.Command{
		Use:   "reproduce [EXPERIMENT...]",
		Short: "Run experiments of papers, and compare with the published numbers",
		Long: `Run experiments of papers, and compare with the published numbers. The exit status is 1 if a
figure is outside the band of the published one. Experiments oxgang/... have targets instead.
Without arguments, list the experiments.`,
		Example: `  oxgang lab reproduce sia/table-3.3
  oxgang lab reproduce --ci`,
		ValidArgs: experiments.Names(),
		RunE:      r.run,
	}
	f := cmd.Flags()
	f.StringVar(&r.data, "data", "../shared/data", "directory of the shared data")
	cli.Output(cmd, &r.format, formats...)
	f.BoolVar(&r.ci, "ci", false, "run the experiments of the CI gate")
	f.BoolVar(&r.all, "all", false, "run all experiments")
	return cmd
}

func (r *reproduction) run(cmd *cobra.Command, names []string) error {
	if err := cli.CheckOutput(r.format, formats...); err != nil {
		return err
	}
	chosen, err := r.choose(names)
	if err != nil {
		return err
	}
	if len(chosen) == 0 {
		return list(cmd.OutOrStdout())
	}
	outside := 0
	for _, e := range chosen {
		found, err := e.Reproduce(cmd.Context(), cli.OsFiles(), r.data)
		if err != nil {
			return err
		}
		if err := r.print(cmd.OutOrStdout(), e, found); err != nil {
			return err
		}
		for _, f := range found {
			if f.Verdict == experiments.Outside {
				outside++
			}
		}
	}
	if outside > 0 {
		return fmt.Errorf("figures outside their bands: %d", outside)
	}
	return nil
}

func (r *reproduction) choose(names []string) ([]*experiments.Experiment, error) {
	if r.ci && r.all || (r.ci || r.all) && len(names) > 0 {
		return nil, cli.Misused("got --ci=%v, --all=%v and experiments %q: use one of them", r.ci, r.all, names)
	}
	if r.ci || r.all {
		names = experiments.Names()
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

func list(w io.Writer) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, name := range experiments.Names() {
		e, err := experiments.Find(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(tab, "%s\t%s\t%s\n", e.Name, e.Source, e.Title)
	}
	return tab.Flush()
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
	for _, note := range e.Notes {
		fmt.Fprintf(w, "  note: %s\n", note)
	}
	_, err := fmt.Fprintln(w)
	return err
}
