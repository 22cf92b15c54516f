package lab

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/lab/casestudy/rounds"
)

type roundsStudy struct {
	gpus    int
	jobs    int
	perNode []int
	seed    uint64
	study   rounds.Study
	out     string
	quiet   bool
}

func roundsCommand() *cobra.Command {
	var r roundsStudy
	cmd := &cobra.Command{
		Use:   "rounds",
		Short: "Solve rounds of the scheduler's program at the scale of a large cluster",
		Long: `Solve generated rounds of the scheduler's program at the scale of a large cluster, with each
engine. The table has CPU milliseconds per round, and the gap to the best bound proved by any
engine.`,
		Example: `  oxgang lab rounds --gpus 2048 --engines price,simplex,pop:4
  oxgang lab rounds --gpus 10000 --rounds 50 --out rounds.html`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return r.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.IntVar(&r.gpus, "gpus", 10_000, "GPUs, of seven types")
	f.IntVar(&r.jobs, "jobs", 0, "number of jobs; 0: one per seven GPUs")
	f.IntSliceVar(&r.perNode, "per-node", nil, "GPUs per node of each type, comma-separated; default 8, and 2,2,2,2,4,8,8 for 10,000 GPUs")
	f.Uint64Var(&r.seed, "seed", 1, "random seed")
	f.StringSliceVar(&r.study.Engines, "engines", []string{"price", "copter", "pop:16"}, "engines, comma-separated")
	cli.CompleteList(cmd, "engines", rounds.KindNames(), true)
	f.IntVar(&r.study.Rounds, "rounds", 20, "rounds to measure, after two warm-up rounds")
	f.StringVar(&r.out, "out", "", "file to write: .html or .csv")
	f.BoolVarP(&r.quiet, "quiet", "q", false, "no progress")
	return cmd
}

func (r *roundsStudy) run(ctx context.Context, stdout, stderr io.Writer) error {
	var write func(io.Writer, []rounds.Measurement) error
	switch ext := filepath.Ext(r.out); {
	case r.out == "":
	case ext == ".html":
		write = func(w io.Writer, all []rounds.Measurement) error { return rounds.HTML(w, r.study, all) }
	case ext == ".csv":
		write = rounds.CSV
	default:
		return cli.Misused("--out %s, want a name in .html or .csv", r.out)
	}
	s := rounds.NewSpec(r.gpus)
	s.Seed = r.seed
	if r.jobs != 0 {
		s.Jobs = r.jobs
	}
	if len(r.perNode) > 0 {
		s.PerNode = r.perNode
	}
	r.study.Spec = s
	if err := r.study.Validate(); err != nil {
		return cli.Usage(err)
	}
	all, err := r.study.Run(ctx, func(m rounds.Measurement) {
		if !r.quiet {
			fmt.Fprintf(stderr, "%s, round %d: %v\n", m.Engine, m.Round, m.Total())
		}
	})
	if err != nil {
		return err
	}
	if write != nil {
		if err := cli.Whole(r.out, func(w io.Writer) error { return write(w, all) }); err != nil {
			return err
		}
	}
	return rounds.Table(stdout, rounds.Summarise(all))
}
