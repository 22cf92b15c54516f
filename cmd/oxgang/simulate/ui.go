package simulate

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/cmd/oxgang/live"
	"github.com/oxgang/oxgang/live/page"
	slurm "github.com/oxgang/oxgang/live/slurm/view"
	"github.com/oxgang/oxgang/scheduler/explain"
	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/simulate/whatif"
)

// UICommand returns the command "oxgang ui".
func UICommand() *cobra.Command {
	var (
		machine          live.PageSource
		onSlurm, cancels bool
		listen           string
		gpus             cli.Measured
	)
	cmd := &cobra.Command{
		SuggestFor: []string{"web", "dashboard", "page", "view"},
		Use:        "ui [JOURNAL]", Short: "Serve a web page of this machine's scheduler or a journal",
		Long: `Serve a web page on loopback: jobs and their GPUs, waiting jobs and reasons, expected starts and
ends, and the history of each job. It shows this machine's scheduler or Slurm live, or a journal at
any time of its recording. For this machine's scheduler and journals it also answers what-if
questions. The command prints the page's address with a secret token, and serves until Ctrl-C. The page is read-only unless --allow-cancel is given.`,
		Example: `  oxgang ui
  oxgang ui run/oxgang.oxj
  oxgang ui --slurm`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return cli.Misused("%s takes at most one journal, got %q", cmd.CommandPath(), args)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if cancels && (onSlurm || len(args) > 0) {
				return cli.Misused("--allow-cancel works only for this machine's scheduler")
			}
			if gpus.Any() && !onSlurm {
				return cli.Misused("--gpu-metrics needs --slurm; the scheduler of this machine uses nvidia-smi")
			}
			if onSlurm {
				if len(args) > 0 {
					return cli.Misused("use either --slurm or journal %q", args[0])
				}
				meter, err := gpus.Meter(cmd.Context())
				if err != nil {
					return err
				}
				source, err := slurm.Open(cmd.Context(), meter)
				if err != nil {
					return cli.Hinted(err, "run this where Slurm's commands are, such as a login node; set SLURM_CONF for another configuration")
				}
				return cli.ServePage(cmd, source, listen, cancels)
			}
			source, done, err := pageSource(cmd.Context(), &machine, args)
			if err != nil {
				return err
			}
			defer done()
			return cli.ServePage(cmd, source, listen, cancels)
		},
	}
	machine.Add(cmd)
	cmd.Flags().BoolVar(&onSlurm, "slurm", false, "show Slurm, like \"oxgang slurm observe\"")
	cmd.Flags().BoolVar(&cancels, "allow-cancel", false, "let anyone with the printed address cancel jobs that you may cancel")
	gpus.Add(cmd)
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:0", "address on loopback; port 0 for any free port")
	return cmd
}

func pageSource(ctx context.Context, machine *live.PageSource, args []string) (page.Source, func(), error) {
	if len(args) == 0 {
		s, err := machine.Source(ctx)
		return s, func() {}, err
	}
	j, err := cli.OpenJournalFile(ctx, args[0])
	if err != nil {
		return nil, nil, err
	}
	again := func(ctx context.Context, s *explain.Story) {
		e := explanation{journal: args[0], job: string(s.Job), moment: true, budget: explainBudget}
		e.again(ctx, j.File, s)
	}
	return &page.Recorded{Title: filepath.Base(args[0]), File: j.File, Again: again, WhatIf: asking(j.File)}, func() { _ = j.Close() }, nil
}

func asking(f *journal.File) func(context.Context, whatif.Question, time.Duration) (*whatif.Answer, error) {
	return func(ctx context.Context, q whatif.Question, at time.Duration) (*whatif.Answer, error) {
		then, err := explain.OverviewIn(f, at)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(then.Jobs, func(j explain.OverviewJob) bool { return j.Reason != "" }) // any decided job, in the same round
		if i < 0 {
			return nil, errors.New("no round has decided on an existing job")
		}
		round, err := roundOf(ctx, f, whatif.Moment{Job: then.Jobs[i].ID, At: at, Rough: true})
		if err != nil {
			return nil, err
		}
		return round.Ask(ctx, q)
	}
}
