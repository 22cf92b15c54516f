package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/lab/experiments"
	"github.com/oxgang/oxgang/simulate/config"
)

type synergyProfile struct {
	format, html string
	config       *config.Config
}

var profileKeys = []string{"cluster", "profiles", "gpu-like", "sim.noise", "seed"}

func profileCommand() *cobra.Command {
	s := synergyProfile{config: config.Default()}
	cmd := &cobra.Command{
		Use:   "profile [MODEL...]",
		Short: "Show the effect of CPUs and memory on the speed of a job",
		Long: `Show the effect of CPUs and memory on the speed of a job, by Synergy's optimistic
profiling: a matrix for each GPU type, relative to the speed with the GPU-proportional
share. Entries with a * are measured, with all the memory of a node; the others are
computed, and repeated rows are omitted. The shades show the same matrix. Without MODEL,
all models are shown.`,
		Example: `  oxgang lab profile alexnet
  oxgang lab profile m5 --cluster v100:16x8/24c/500g,h100:4x8/96c/2000g --gpu-like h100=v100x3 --html m5.html`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := s.load(cmd); err != nil {
				return err
			}
			return s.run(cmd.Context(), cmd.OutOrStdout(), args)
		},
		ValidArgsFunction: func(_ *cobra.Command, chosen []string, typed string) ([]string, cobra.ShellCompDirective) {
			names := slices.DeleteFunc(experiments.Sensitive(), func(n string) bool {
				return slices.Contains(chosen, n) || !strings.HasPrefix(n, typed)
			})
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
	f := cmd.Flags()
	for _, k := range config.Keys() {
		if slices.Contains(profileKeys, k.Name) {
			f.String(k.Option(), s.config.Get(k.Name), k.Doc)
		}
	}
	f.Lookup("cluster").DefValue = "synergy128"
	cli.Complete(cmd, "cluster", config.Clusters())
	f.StringVarP(&s.format, "output", "o", "table", strings.Join(matrixFormats, ", "))
	cli.Complete(cmd, "output", matrixFormats)
	f.StringVar(&s.html, "html", "", "HTML page with heat maps to write")
	return cmd
}

func (s *synergyProfile) load(cmd *cobra.Command) error {
	errs := []error{s.config.Set("cluster", "synergy128", "default")}
	for _, k := range config.Keys() {
		if f := cmd.Flags().Lookup(k.Option()); f != nil && f.Changed && slices.Contains(profileKeys, k.Name) {
			if err := s.config.Set(k.Name, f.Value.String(), "flag"); err != nil {
				errs = append(errs, fmt.Errorf("--%s: %w", k.Option(), cli.TrimPrefix(err, k.Name+": ")))
			}
		}
	}
	if !slices.Contains(matrixFormats, s.format) {
		errs = append(errs, fmt.Errorf("output %q, want one of %s", s.format, strings.Join(matrixFormats, ", ")))
	}
	if err := errors.Join(append(errs, s.config.Validate())...); err != nil {
		return cli.Usage(err)
	}
	return nil
}

func (s *synergyProfile) run(ctx context.Context, stdout io.Writer, models []string) error {
	all, err := experiments.Profile(ctx, s.config, cli.FilesUntil(ctx), models)
	if err != nil {
		return err
	}
	if s.html != "" {
		if err := cli.Whole(s.html, func(w io.Writer) error { return matrixPage(s.config.Cluster, all).Write(w) }); err != nil {
			return err
		}
	}
	switch s.format {
	case "json", "yaml":
		return writeMatrix(stdout, s.format, all)
	case "csv":
		return writeMatrixCSV(stdout, all)
	}
	return writeMatrixTables(stdout, all)
}
