package simulate

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/cmd/oxgang/machine"
	"github.com/oxgang/oxgang/live/page"
	slurm "github.com/oxgang/oxgang/live/slurm/view"
	"github.com/oxgang/oxgang/scheduler/explain"
	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/simulate/whatif"
)

// UICommand returns the command "oxgang ui".
func UICommand() *cobra.Command {
	var (
		live             machine.PageSource
		onSlurm, cancels bool
		listen           string
	)
	cmd := &cobra.Command{
		SuggestFor: []string{"web", "dashboard", "page", "view"},
		Use:        "ui [JOURNAL]", Short: "Serve a page that shows the scheduler of this machine, or a journal",
		Long: `Serve a page, on loopback, that shows who has which GPU, who waits and why, when jobs are expected
to start and end, and the life of each job: of the scheduler of this machine or of a Slurm, as it changes, or of a
journal, at any time of it. Of the scheduler of this machine and of a journal it also answers what would be if a job
were cancelled or a node came. It prints the page's address with a token, without which nobody sees anything, and
serves until Ctrl-C. The page can change nothing, unless --allow-cancel is given.`,
		Example: `  oxgang ui
  oxgang ui run/oxgang.oxj
  oxgang ui --slurm`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return cli.Misused("%s takes one journal at most, got %q", cmd.CommandPath(), args)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if cancels && (onSlurm || len(args) > 0) {
				return cli.Misused("--allow-cancel is for the scheduler of this machine alone")
			}
			if onSlurm {
				if len(args) > 0 {
					return cli.Misused("--slurm and journal %q, want one of them", args[0])
				}
				source, err := slurm.Open(cmd.Context())
				if err != nil {
					return cli.Hinted(err, "run this where Slurm's commands are, as on a login node; SLURM_CONF names another configuration")
				}
				return cli.ServePage(cmd, source, listen, cancels)
			}
			source, done, err := pageSource(cmd.Context(), &live, args)
			if err != nil {
				return err
			}
			defer done()
			return cli.ServePage(cmd, source, listen, cancels)
		},
	}
	live.Add(cmd)
	cmd.Flags().BoolVar(&onSlurm, "slurm", false, "show the Slurm of this machine's commands, as \"oxgang slurm observe\" does")
	cmd.Flags().BoolVar(&cancels, "allow-cancel", false, "who opens the printed address may cancel jobs that you may cancel")
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:0", "address on loopback; port 0: any free one")
	return cmd
}

// pageSource returns what the page shows, and what ends that.
func pageSource(ctx context.Context, live *machine.PageSource, args []string) (page.Source, func(), error) {
	if len(args) == 0 {
		s, err := live.Source(ctx)
		return s, func() {}, err
	}
	j, err := cli.OpenJournalFile(ctx, args[0])
	if err != nil {
		return nil, nil, err
	}
	again := func(ctx context.Context, s *explain.Story) {
		e := explanation{journal: args[0], job: string(s.Job), moment: true}
		e.again(ctx, j.File, s)
	}
	return &page.Recorded{Title: filepath.Base(args[0]), File: j.File, Again: again, WhatIf: asking(j.File)}, func() { _ = j.Close() }, nil
}

// asking answers what would be from a time of a journal on.
func asking(f *journal.File) func(context.Context, whatif.Question, time.Duration) (*whatif.Answer, error) {
	return func(ctx context.Context, q whatif.Question, at time.Duration) (*whatif.Answer, error) {
		then, err := explain.OverviewIn(f, at)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(then.Jobs, func(j explain.OverviewJob) bool { return j.Reason != "" }) // any that was decided on: it is the round of all
		if i < 0 {
			return nil, errors.New("no round has decided on a job that is there")
		}
		round, err := roundOf(ctx, f, whatif.Moment{Job: then.Jobs[i].ID, At: at, Rough: true})
		if err != nil {
			return nil, err
		}
		return round.Ask(ctx, q)
	}
}
