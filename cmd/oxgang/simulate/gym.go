package simulate

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/lab/external"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/registry"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/simulate/report"
	"github.com/oxgang/oxgang/simulate/run"
)

const externalName = "external"

type gym struct {
	simulation
	meter  external.Meter
	policy *external.Policy
}

// GymCommand returns the command "oxgang lab gym".
func GymCommand() *cobra.Command {
	var g gym
	cmd := &cobra.Command{
		Hidden: true, // Python programs start it
		Use:    "gym",
		Short:  "Simulate with decisions from the process at standard input and output",
		Long: `Simulate with decisions from the process at standard input and output. The command writes lines
of JSON: a greeting, a question for each round, and the result. After each question it reads a line
with the answer. "go doc ./lab/external" describes the fields, and docs/guide/research.md the Python
package with a Gymnasium environment. Equal seeds and answers give equal questions.`,
		Example: `  oxgang lab gym --generate-jobs 20 --seed 7
  oxgang lab gym --cluster t4:4x4 --out run --results parquet`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			ctx, fail := context.WithCancel(cmd.Context())
			defer fail()
			if err := g.register(cmd.InOrStdin(), cmd.OutOrStdout(), fail); err != nil {
				return err
			}
			if g.config, err = g.flags.Load(cmd); err != nil {
				return err
			}
			if g.config.IsSet("policy") {
				return cli.Misused("policy: it is the other process")
			}
			g.stderr, g.quiet = cmd.ErrOrStderr(), true
			g.config.Policies = []string{externalName}
			return g.play(ctx, cmd.Context())
		},
	}
	g.flags.Add(cmd.Flags())
	cli.CompleteSettings(cmd)
	f := cmd.Flags()
	f.StringVar(&g.out, "out", "", "directory for the journal and, with --results, the tables")
	f.StringVar(&g.tables, "results", "", "also write tables of jobs, rounds and allocations to --out: csv or parquet")
	cli.Complete(cmd, "results", []string{"csv", "parquet"})
	return cmd
}

func (g *gym) register(in io.Reader, out io.Writer, fail func()) error {
	g.policy = external.New(in, out, &g.meter, fail)
	return registry.Register(&registry.Entry{
		Name: externalName, Doc: "Another process decides.",
		New: func(map[string]string) (policy.Policy, error) { return g.policy, nil },
	})
}

type greeting struct {
	Protocol int             `json:"protocol"`
	Program  string          `json:"program"`
	Jobs     int             `json:"jobs"`
	Round    float64         `json:"round_s"`
	GPUs     []external.GPUs `json:"gpus"`
}

type ending struct {
	Unfinished bool               `json:"unfinished"` // stopped by the horizon
	JobTime    float64            `json:"job_s"`      // since the last question
	Measures   map[string]float64 `json:"measures"`
}

func (g *gym) play(ctx, outer context.Context) (err error) {
	if err := g.checkTables(); err != nil {
		return err
	}
	in, err := run.Load(g.config, cli.FilesUntil(ctx))
	if err != nil {
		return err
	}
	if len(in.Arrivals) == 0 {
		return errors.New("the trace has no jobs")
	}
	if err := g.prepare(); err != nil {
		return err
	}
	if g.stage != nil {
		defer func() { err = errors.Join(err, g.stage.Discard()) }()
	}
	err = g.policy.Say(&greeting{external.Version, "oxgang " + cli.Version(), len(in.Arrivals), g.config.Scheduler.Round.Seconds(), external.GPUsOf(in.Cluster)})
	if err != nil {
		return err
	}
	t := &task{name: externalName, policy: externalName, config: g.config, Inputs: in}
	out, err := g.output(t)
	if err != nil {
		return err
	}
	err = t.simulate(ctx, out, scheduler.Observer(&g.meter))
	switch {
	case outer.Err() != nil:
		return errors.Join(cli.ErrInterrupted, err)
	case g.policy.Err() != nil:
		return errors.Join(g.policy.Err(), err)
	case err != nil || t.failed != nil:
		return errors.Join(t.failed, err)
	}
	return g.finish(t)
}

func (g *gym) finish(t *task) error {
	if n := len(t.run.Refused); n > 0 {
		return fmt.Errorf("refused plans: %d, the first: %s", n, t.run.Refused[0])
	}
	if g.stage != nil {
		if err := g.stage.Publish(); err != nil {
			return err
		}
	}
	r := t.row()
	return g.policy.Say(&struct {
		End ending `json:"end"`
	}{ending{t.run.Unfinished, g.meter.Rest(), report.Measures(&r)}})
}
