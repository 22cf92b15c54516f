package simulate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/cmd/oxgang/live"
	"github.com/oxgang/oxgang/live/control"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/whatif"
)

type tryFlags struct {
	journal, format string
	at              time.Duration
	live            live.Scheduler
}

// TryCommand returns the command "oxgang try".
func TryCommand() *cobra.Command {
	var f tryFlags
	cmd := &cobra.Command{
		Use: "try FILE", Short: "Check when a job would start, without submitting it",
		Long: `Check whether a job would start now; if not, when; on which GPUs; and what would start it sooner.
Nothing is submitted or written. FILE is a script for sbatch, a Kubernetes manifest with one job, or
a JSON object such as {"gpus": 2}.

By default, the scheduler of this machine answers. If none runs, the answer follows from the last
journal in the state directory, which may also be the directory of "oxgang slurm serve". With
--journal, it follows from that journal: the command simulates the state at its end, or at --at,
with one more job. The exit status is 0 if the job starts in the next round, 3 if it waits, and 4 if
it can never start.`,
		Example: `  oxgang try train.sh
  oxgang try train.sh --state /var/lib/oxgang-slurm
  oxgang try job.yaml --journal run/sia.oxj --at 2h -o json`,
		Args: cli.OneArg("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd, args[0])
		},
	}
	f.live.AddFlags(cmd)
	cmd.Flags().StringVar(&f.journal, "journal", "", "journal (.oxj) of a run; default: the running scheduler")
	cmd.Flags().DurationVar(&f.at, "at", 0, "with --journal: time since the start of the recording; default: its end")
	cli.Output(cmd, &f.format, "text", "json", "yaml")
	return cmd
}

func (f *tryFlags) run(cmd *cobra.Command, file string) error {
	switch {
	case f.at < 0:
		return cli.Misused("--at %v, want at least 0", f.at)
	case f.at > 0 && f.journal == "":
		return cli.Misused("--at needs --journal")
	case f.journal != "" && cmd.Flags().Changed("state"):
		return cli.Misused("use either --journal or --state")
	}
	if err := cli.CheckOutput(f.format, "text", "json", "yaml"); err != nil {
		return err
	}
	spec, err := cli.Submission(cmd.Context(), file)
	if err != nil {
		return err
	}
	a, err := f.answer(cmd, spec)
	if err != nil {
		return err
	}
	return cli.WriteTrial(cmd.OutOrStdout(), f.format, a)
}

func (f *tryFlags) answer(cmd *cobra.Command, spec *job.Spec) (*whatif.TrialAnswer, error) {
	file := f.journal
	if file == "" {
		a, absent := f.live.Try(cmd.Context(), spec)
		if absent == nil || !errors.Is(absent, control.ErrAbsent) {
			return a, absent
		}
		var err error
		if file, err = f.live.Journal(); err != nil || file == "" {
			return nil, errors.Join(err, absent)
		}
	}
	t, at, err := f.try(cmd.Context(), file, spec)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if f.journal == "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "note: no scheduler of this machine runs; this is the answer at the end of %s, %s\n", file, at.Format("2006-01-02 15:04 MST"))
	}
	return whatif.AnswerOf(spec, t), nil
}

// tryTime is the time that a simulation may take, and the search for a change that helps.
const tryTime = 2 * time.Second

func (f *tryFlags) try(ctx context.Context, file string, spec *job.Spec) (*whatif.Trial, time.Time, error) {
	var at time.Time
	cli.Hurry()
	j, err := cli.OpenJournalFile(ctx, file)
	if err != nil {
		return nil, at, err
	}
	defer j.Close()
	after := f.at
	if after == 0 {
		last, err := j.Last()
		if err != nil {
			return nil, at, err
		}
		after = last.At
	}
	h := j.Header()
	round, err := roundOf(ctx, j.File, whatif.Moment{At: after})
	if err != nil {
		return nil, at, err
	}
	ctx, stop := context.WithTimeout(ctx, tryTime)
	defer stop()
	t, err := round.Try(ctx, spec)
	return t, h.Start.Add(after), err
}
