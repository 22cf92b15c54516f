package simulate

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/policy/registry"
	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/simulate/history"
	"github.com/oxgang/oxgang/simulate/run"
	"github.com/oxgang/oxgang/simulate/whatif"
)

type replaying struct {
	journal, policy, format string
	actions, etas           bool
}

// ReplayCommand returns the command "oxgang replay".
func ReplayCommand() *cobra.Command {
	var r replaying
	cmd := &cobra.Command{
		Use:   "replay JOURNAL",
		Short: "Check that a recorded run can be reproduced, and how well a simulation predicts it",
		Long: `Check a recorded run twice. First, replay its events: the policy must make the recorded decisions
(allocations, placements, batch sizes, reasons, prices and actions). The first difference is reported
as an error. Second, simulate the run with what it learned of its jobs, and compare the ends of jobs.
--policy simulates another policy as well. If the simulation of the recorded policy is more than 5 %
off in mean JCT, mean wait or utilisation, the result for the other policy is marked as untrusted.`,
		Example: `  oxgang simulate --policy sia --out run/
  oxgang replay run/sia.oxj
  oxgang replay run/sia.oxj --policy fifo`,
		Args: cli.OneArg("JOURNAL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := cli.CheckOutput(r.format, verdicts...); err != nil {
				return err
			}
			if r.policy != "" {
				if _, err := registry.Find(r.policy); err != nil {
					return cli.Usage(err)
				}
			}
			r.journal = args[0]
			return r.run(cmd.Context(), cmd.OutOrStdout())
		},
	}
	f := cmd.Flags()
	f.StringVar(&r.policy, "policy", "", "policy to simulate; default: the recorded one")
	cli.CompleteLater(cmd, "policy", registry.Names, false)
	f.BoolVar(&r.actions, "actions", false, "compare only actions, for recordings by another version with other reasons")
	f.BoolVar(&r.etas, "etas", false, "test the predicted ranges of starts and ends")
	cli.Output(cmd, &r.format, verdicts...)
	return cmd
}

var verdicts = []string{"table", "json", "yaml"}

func (r *replaying) run(ctx context.Context, stdout io.Writer) error {
	v, err := history.JudgeReplay(ctx, r.recording(ctx), r.policy, r.etas)
	if err != nil {
		return fmt.Errorf("%s: %w", r.journal, err)
	}
	if r.format == "table" {
		err = v.Table(stdout)
	} else {
		err = cli.Write(stdout, r.format, v)
	}
	if err == nil && v.First != "" {
		err = differs(v, r.journal)
	}
	return err
}

func differs(v *history.Verdict, file string) error {
	err := fmt.Errorf("%s: decisions differ from those recorded: %s", file, v.First)
	if v.ActionsDiffer() {
		return err
	}
	return cli.Hinted(err, "other versions may give other reasons; --actions compares only actions")
}

func (r *replaying) recording(ctx context.Context) history.Recording {
	return func(policy string, use func(*journal.Reader, whatif.Options) error) error {
		j, f, err := cli.OpenJournal(ctx, r.journal)
		if err != nil {
			return err
		}
		defer f.Close()
		h := j.Header()
		again, err := run.Again(&h, policy, cli.FilesUntil(ctx))
		if err != nil {
			return err
		}
		return use(j, whatif.Options{Fresh: again.Fresh, Scheduler: again.Scheduler, ActionsAlone: r.actions})
	}
}
