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

type matrixRun struct {
	o     experiments.MatrixOptions
	write string
}

func matrixCommand() *cobra.Command {
	var r matrixRun
	cmd := &cobra.Command{
		Use:   "matrix",
		Short: "Run every policy on every family of workloads, and print the tables",
		Long: `Run every policy on every family of workloads, and print Markdown tables of mean and
p99 completion time, makespan, worst finish-time fairness, unfair jobs, GPU-hours and
restarts. If a policy fails or exceeds the time limit, its row has the reason, and the
others continue. A complete run takes half an hour on one core.`,
		Example: `  oxgang lab matrix --write docs/experiments/matrix.md
  oxgang lab matrix --families rigid,spike --policies sia,easy,srtf`,
		Args: cobra.NoArgs,
		RunE: r.run,
	}
	f := cmd.Flags()
	f.StringVar(&r.o.Data, "data", "../shared/data", "directory of the shared data")
	f.StringSliceVar(&r.o.Families, "families", nil, "families to run, comma-separated (default: all)")
	f.StringSliceVar(&r.o.Policies, "policies", nil, "policies to run, comma-separated (default: all)")
	f.DurationVar(&r.o.Limit, "limit", 3*time.Minute, "time limit of one run; 0: none")
	f.StringVar(&r.write, "write", "", "file for the tables; empty: standard output")
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
