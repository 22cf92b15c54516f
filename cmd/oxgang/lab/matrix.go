package lab

import (
	"bytes"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/lab/experiments"
)

// matrixRun is one call of oxgang lab matrix.
type matrixRun struct {
	o     experiments.MatrixOptions
	write string
}

func matrixCommand() *cobra.Command {
	var r matrixRun
	cmd := &cobra.Command{
		Use:   "matrix",
		Short: "Run every policy on every family of workloads, and print the tables",
		Long: `Run every policy on every family of workloads, and print the tables as
Markdown: mean and p99 completion time, makespan, worst finish-time fairness,
unfair jobs, GPU-hours and restarts. A policy that is stuck, refuses or takes
longer than the limit says so in its row; the others go on. All of it takes
half an hour of one core.`,
		Example: `  oxgang lab matrix --write docs/experiments/matrix.md
  oxgang lab matrix --families rigid,spike --policies sia,easy,srtf`,
		Args: cobra.NoArgs,
		RunE: r.run,
	}
	f := cmd.Flags()
	f.StringVar(&r.o.Data, "data", "../shared/data", "folder of the shared data")
	f.StringSliceVar(&r.o.Families, "families", nil, "only these families, by comma")
	f.StringSliceVar(&r.o.Policies, "policies", nil, "only these policies, by comma")
	f.DurationVar(&r.o.Limit, "limit", 3*time.Minute, "most time of one run; 0: none")
	f.StringVar(&r.write, "write", "", "file to write the tables to; empty: they are printed")
	return cmd
}

func (r *matrixRun) run(cmd *cobra.Command, _ []string) error {
	m, err := experiments.LoadMatrix()
	if err != nil {
		return err
	}
	r.o.Files = cli.OsFiles()
	r.o.Each = func(c *experiments.Cell) {
		if c.Why != "" {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s on %s: %d of %d jobs ended: %s\n", c.Policy, c.Family, c.Ended, c.Jobs, c.Why)
		}
	}
	cells, err := m.Run(cmd.Context(), r.o)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := m.Write(&text, cells); err != nil {
		return err
	}
	if r.write != "" {
		return os.WriteFile(r.write, text.Bytes(), 0o644)
	}
	_, err = cmd.OutOrStdout().Write(text.Bytes())
	return err
}
