package simulate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/cmd/oxgang/live"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler/explain"
	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/simulate/run"
	"github.com/oxgang/oxgang/simulate/whatif"
)

type explanation struct {
	journal, job, format string
	at                   time.Duration
	moment               bool // --at was given
	verbose              bool
	budget               time.Duration // processor time for the forecast, and again for the change that would help
}

const explainBudget = 5 * time.Second

// ExplainCommand returns the command "oxgang explain".
func ExplainCommand() *cobra.Command {
	e := explanation{budget: explainBudget}
	ofJob := live.ExplainJobCommand()
	live.AddSlurmExplain(ofJob)
	cmd := &cobra.Command{
		SuggestFor: []string{"describe", "why", "status"},
		Use:        "explain [job NAME]", Short: "Explain why a job waits, why its size changed, and where its time went",
		Long: `Explain a job from the journal of a run: its whole history, with a line for each change. With --at,
explain one time: the state of the job, the reason, and what came next.
"oxgang explain job" explains a live job of this machine's scheduler or of Slurm.`,
		Example: `  oxgang simulate --out run/
  oxgang explain --journal run/sia.oxj --job cifar10-17
  oxgang explain --journal run/sia.oxj --job cifar10-17 --at 2h
  oxgang explain job mnist-2
  oxgang explain job 1234 --slurm`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && args[0] == "job" {
				return cli.JobArg(cmd, args)
			}
			if err := cli.NoArgs(cmd, args); err != nil {
				return cli.Usage(cli.Hinted(err, `"oxgang explain job %s" explains a live job`, args[0]))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return e.ask(cmd, ofJob, args[1:])
			}
			e.moment = cmd.Flags().Changed("at")
			if err := e.check(); err != nil {
				return cli.Usage(err)
			}
			var err error
			if e.verbose, err = cmd.Flags().GetBool("verbose"); err != nil {
				return err
			}
			return e.run(cmd.Context(), cmd.OutOrStdout())
		},
	}
	f := cmd.Flags()
	f.StringVar(&e.journal, "journal", "", "journal (.oxj) written by simulate --out")
	f.StringVar(&e.job, "job", "", "job to explain")
	f.DurationVar(&e.at, "at", 0, "time since the start of the recording; default: the whole history")
	cli.Output(cmd, &e.format, "text", "json", "yaml")
	ofJob.Flags().VisitAll(func(l *pflag.Flag) {
		if l.Name != "output" {
			f.AddFlag(l)
		}
	})
	cmd.ValidArgsFunction = cli.CompleteJobArg(ofJob.ValidArgsFunction)
	return cmd
}

func (e *explanation) ask(cmd, ofJob *cobra.Command, args []string) error {
	if err := ofJob.Flags().Set("output", e.format); err != nil {
		return err
	}
	ofJob.SetContext(cmd.Context())
	ofJob.SetOut(cmd.OutOrStdout())
	ofJob.SetErr(cmd.ErrOrStderr())
	return ofJob.RunE(ofJob, args)
}

func (e *explanation) check() error {
	const hint = `run "oxgang explain --help" for usage`
	switch {
	case e.journal == "":
		return cli.Hinted(errors.New("--journal is missing: the file that simulate --out wrote"), hint)
	case e.job == "":
		return cli.Hinted(errors.New("--job is missing: the name of a job"), hint)
	case e.at < 0:
		return fmt.Errorf("--at %v, want at least 0", e.at)
	}
	return cli.CheckOutput(e.format, "text", "json", "yaml")
}

// run writes the state of the job first as text, because the rows that are simulated take longer.
func (e *explanation) run(ctx context.Context, w io.Writer) error {
	cli.Hurry()
	j, err := cli.OpenJournalFile(ctx, e.journal)
	if err != nil {
		return err
	}
	defer j.Close()
	s, err := e.recorded(j.File)
	if unknown, ok := errors.AsType[*explain.UnknownJobError](err); ok {
		return e.unknown(unknown)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", e.journal, err)
	}
	if e.format != "text" {
		e.again(ctx, j.File, s)
		return cli.WriteJSON(w, s)
	}
	if err := s.WriteState(w); err != nil {
		return err
	}
	e.again(ctx, j.File, s)
	if err := s.WriteForecast(w); err != nil || !e.verbose {
		return err
	}
	return writeDetails(w, s)
}

func (e *explanation) recorded(f *journal.File) (*explain.Story, error) {
	if e.moment {
		return explain.AtIn(f, job.ID(e.job), e.at)
	}
	return explain.LifeIn(f, job.ID(e.job))
}

func (e *explanation) again(ctx context.Context, f *journal.File, s *explain.Story) {
	m := s.Moment
	if m == nil || m.Reason == "" {
		return
	}
	id := job.ID(e.job)
	round, all, err := e.foresee(ctx, f, id, m)
	if round != nil {
		if m.Unblockable() {
			err = cmp.Or(e.unblock(ctx, round, id, m, all), err)
		}
		expect(round, m, all, id)
	}
	switch {
	case errors.Is(err, cli.ErrBudget):
		outOfTime(m)
	case err != nil && !errors.Is(err, whatif.ErrUndecided) && m.Holds == nil:
		m.Unblock = "unknown: the round cannot be decided again: " + err.Error()
	}
	if m.Change != nil {
		m.SetChange(m.Change)
	}
}

// foresee plans the round again, adds what only this shows, and predicts what follows. The round is nil if it cannot be
// planned again. The error is ErrBudget if processor time ran out.
func (e *explanation) foresee(ctx context.Context, f *journal.File, id job.ID, m *explain.Moment) (*whatif.Round, map[job.ID]whatif.ETA, error) {
	ctx, cancel := cli.WithBudget(ctx, e.budget)
	defer cancel()
	round, err := roundOf(ctx, f, whatif.Moment{Job: id, At: time.Duration(m.At)})
	if err != nil {
		return nil, nil, spent(ctx, err)
	}
	if e.verbose || e.format != "text" { // text has the weight only among the details
		if terms, ok := round.Weighed(ctx); ok {
			m.Weigh(terms)
		}
	}
	if cost, ok := round.SeveralRacks(); ok {
		m.Cross(cost)
	}
	all := round.Expect(ctx, id)
	if all == nil {
		err = spent(ctx, nil)
	}
	return round, all, err
}

func spent(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), cli.ErrBudget) {
		return cli.ErrBudget
	}
	return err
}

func outOfTime(m *explain.Moment) {
	unknown := &explain.Expected{Unknown: whatif.TooLong.String()}
	if m.Unblockable() {
		m.Unblock = "unknown: " + unknown.Unknown
	}
	if m.End == nil {
		m.End = unknown
	}
	if m.Start == nil && m.Holds == nil {
		m.Start = unknown
	}
}

func expect(round *whatif.Round, m *explain.Moment, all map[job.ID]whatif.ETA, id job.ID) {
	eta, ok := all[id]
	if !ok {
		return
	}
	if m.Start, m.End = eta.Expected(round.Passed()); m.Holds != nil {
		m.Start = nil
	}
}

func (e *explanation) unblock(ctx context.Context, round *whatif.Round, id job.ID, m *explain.Moment, all map[job.ID]whatif.ETA) (err error) {
	ctx, cancel := cli.WithBudget(ctx, e.budget)
	defer cancel()
	if m.Change, err = round.Unblock(ctx, whatif.Ends(all, round.Passed())); err != nil {
		return spent(ctx, err)
	}
	of := m.Change.Jobs
	if slices.ContainsFunc(of, func(id job.ID) bool { _, ok := all[id]; return !ok }) && !m.Change.Rough && all != nil {
		more := round.Expect(ctx, of...)
		for _, id := range of {
			if eta, ok := more[id]; ok {
				all[id] = eta
			}
		}
	}
	whatif.Until(m.Change, id, all, round.Passed())
	return nil
}

func roundOf(ctx context.Context, f *journal.File, of whatif.Moment) (*whatif.Round, error) {
	h := f.Header()
	again, err := run.Again(&h, "", cli.FilesUntil(ctx))
	if err != nil {
		return nil, err
	}
	o := whatif.Options{Fresh: again.Fresh, Scheduler: again.Scheduler}
	return whatif.RoundIn(ctx, f, of, o)
}

func (e *explanation) unknown(err *explain.UnknownJobError) error {
	if len(err.Closest) == 0 {
		return fmt.Errorf("%s: %w", e.journal, err)
	}
	names := make([]string, len(err.Closest))
	for i, id := range err.Closest {
		names[i] = string(id)
	}
	return cli.Hinted(fmt.Errorf("%s: no job %q", e.journal, err.Job), "did you mean %s?", strings.Join(names, ", "))
}

func writeDetails(w io.Writer, s *explain.Story) error {
	var details strings.Builder
	if err := s.WriteDetails(&details); err != nil || details.Len() == 0 {
		return err
	}
	_, err := fmt.Fprint(w, "\n", details.String())
	return err
}
