package simulate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler/explain"
	"github.com/oxgang/oxgang/scheduler/explain/counterfactual"
	"github.com/oxgang/oxgang/simulate/trace"
	"github.com/oxgang/oxgang/simulate/whatif"
)

// Exit statuses of "oxgang try".
const (
	tryWaits = 3
	tryNever = 4
)

type tryFlags struct {
	journal, format string
	at              time.Duration
}

// TryCommand returns the command "oxgang try".
func TryCommand() *cobra.Command {
	var f tryFlags
	cmd := &cobra.Command{
		Use: "try FILE", Short: "Check when a job would start, without submitting it",
		Long: `Check whether a job would start now, when, and on which GPUs, and what would start it sooner. Nothing is submitted or
written. FILE is a script for sbatch, a Kubernetes manifest with one job, or a JSON object such as {"gpus": 2}.

The answer follows from the journal of a run: a live scheduler's, or one that simulate --out wrote. It simulates the state
at the end of the journal, or at --at, with one more job. The exit status is 0 if the job starts in the next round, 3 if it
waits, and 4 if it can never start.`,
		Example: `  oxgang try train.sh --journal state/journal/JOURNAL.oxj
  oxgang try job.yaml --journal run/sia.oxj --at 2h -o json`,
		Args: cli.OneArg("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd.Context(), cmd.OutOrStdout(), args[0])
		},
	}
	cmd.Flags().StringVar(&f.journal, "journal", "", "journal (.oxj) of the run")
	cmd.Flags().DurationVar(&f.at, "at", 0, "time since the start of the recording; default: its end")
	cli.Output(cmd, &f.format, "text", "json", "yaml")
	return cmd
}

func (f *tryFlags) run(ctx context.Context, w io.Writer, file string) error {
	switch {
	case f.journal == "":
		return cli.Usage(cli.Hinted(errors.New("--journal is missing: the journal of the run"), `run "oxgang try --help" for usage`))
	case f.at < 0:
		return cli.Misused("--at %v, want at least 0", f.at)
	}
	if err := cli.CheckOutput(f.format, "text", "json", "yaml"); err != nil {
		return err
	}
	spec, err := f.job(ctx, file)
	if err != nil {
		return err
	}
	t, err := f.try(ctx, spec)
	if err != nil {
		return fmt.Errorf("%s: %w", f.journal, err)
	}
	a := answerOf(spec, t)
	if f.format == "text" {
		_, err = io.WriteString(w, a.text())
	} else {
		err = cli.Write(w, f.format, a)
	}
	return errors.Join(err, a.status())
}

func (f *tryFlags) job(ctx context.Context, file string) (*job.Spec, error) {
	in, err := cli.Open(ctx, file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	const most = 4 << 20
	text, err := io.ReadAll(io.LimitReader(in, most))
	if err != nil {
		return nil, err
	}
	return trace.ReadSubmission(text, file)
}

// tryTime is the time that a simulation may take, and the search for a change that helps.
const tryTime = 2 * time.Second

func (f *tryFlags) try(ctx context.Context, spec *job.Spec) (*whatif.Trial, error) {
	j, err := cli.OpenJournalFile(ctx, f.journal)
	if err != nil {
		return nil, err
	}
	defer j.Close()
	at := f.at
	if at == 0 {
		last, err := j.Last()
		if err != nil {
			return nil, err
		}
		at = last.At
	}
	round, err := roundOf(ctx, j.File, whatif.Moment{At: at})
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(ctx, tryTime)
	defer stop()
	return round.Try(ctx, spec)
}

// A tryAnswer is what "oxgang try -o json" prints. Times are in seconds.
type tryAnswer struct {
	Job    string                 `json:"job,omitempty"`
	Answer string                 `json:"answer"` // now, waits or never
	Why    string                 `json:"why,omitempty"`
	Start  *explain.Expected      `json:"start,omitempty"`
	GPUs   int                    `json:"gpus,omitzero"`
	Type   string                 `json:"gpu_type,omitempty"`
	Nodes  int                    `json:"nodes,omitzero"`
	Price  float64                `json:"price,omitzero"` // of one GPU in the policy's plan, in units of its objective: not money
	Others int                    `json:"waiting_jobs"`
	Helps  *counterfactual.Change `json:"helps,omitempty"`
}

func answerOf(spec *job.Spec, t *whatif.Trial) *tryAnswer {
	a := &tryAnswer{Job: spec.Name, Answer: "waits", Others: t.Others, Helps: t.Helps}
	if t.Never != "" {
		a.Answer, a.Why = "never", t.Never
		return a
	}
	if t.Now {
		a.Answer = "now"
	}
	a.GPUs, a.Type, a.Nodes, a.Price = t.Gets.GPUs, string(t.Gets.GPUType), t.Gets.Nodes, t.Price
	if a.Start = (&explain.Expected{Unknown: t.Start.Why.String()}); t.Start.Why == whatif.Known {
		a.Start = explain.ExpectedIn(&t.Start.Range, t.Start.Open, t.Passed)
	}
	return a
}

func (a *tryAnswer) text() string {
	var b strings.Builder
	switch a.Answer {
	case "never":
		return printable.Line("Never starts: "+a.Why) + "\n"
	case "now":
		b.WriteString("Starts in the next round")
	default:
		fmt.Fprintf(&b, "Waits beside %s. Start: %s", printable.Counted(a.Others, "other job"), a.Start.StartText())
	}
	if a.GPUs > 0 {
		fmt.Fprintf(&b, ", on %s on %s", printable.GPUs(a.GPUs, a.Type), printable.Counted(a.Nodes, "node"))
	}
	b.WriteString(".\n")
	if a.Helps != nil {
		fmt.Fprintf(&b, "Sooner: %s.\n", a.Helps)
	}
	return printable.Text(b.String())
}

func (a *tryAnswer) status() error {
	switch a.Answer {
	case "waits":
		return cli.StatusError(tryWaits)
	case "never":
		return cli.StatusError(tryNever)
	}
	return nil
}
