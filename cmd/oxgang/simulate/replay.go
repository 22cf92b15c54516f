package simulate

import (
	"context"
	"fmt"
	"io"
	"math"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/policy/registry"
	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/simulate/run"
	"github.com/oxgang/oxgang/simulate/whatif"
)

// replaying is one call of oxgang replay.
type replaying struct {
	journal, policy, format string
	actions, etas           bool
}

// ReplayCommand returns the command "oxgang replay".
func ReplayCommand() *cobra.Command {
	var r replaying
	cmd := &cobra.Command{
		Use:   "replay JOURNAL",
		Short: "Check that a recorded run's decisions come out again, and how well a simulation predicts it",
		Long: `Check a recorded run twice. Its events are shown to the policy anew, whose decisions
must be those recorded, in allocations, placements, batch sizes, reasons, prices and actions:
the first that differs is told, and is an error. And the run is simulated with what it has learned of its jobs: when would they have ended, and when did
they? With another policy it is simulated under its own first. Where that is more than 5 % off in mean JCT,
mean wait or utilisation, what the other would have come to is marked as not to be trusted.`,
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
	f.StringVar(&r.policy, "policy", "", "policy to simulate; empty: the recorded one")
	cli.CompleteLater(cmd, "policy", registry.Names, false)
	f.BoolVar(&r.actions, "actions", false, "compare actions alone, as of a recording by another version, whose policy gave other reasons")
	f.BoolVar(&r.etas, "etas", false, "test the ranges of starts and ends that would have been stated in the run")
	cli.Output(cmd, &r.format, verdicts...)
	return cmd
}

// verdicts are the formats of one.
var verdicts = []string{"table", "json", "yaml"}

// A Verdict is what oxgang replay finds.
type Verdict struct {
	Recorded  string `json:"recorded"` // policy
	Policy    string `json:"policy"`   // simulated
	Rounds    int    `json:"rounds"`
	Actions   int    `json:"actions"`
	Truncated bool   `json:"truncated"`            // the journal has no end
	Unsealed  bool   `json:"unverified,omitempty"` // the journal has no hashes
	First     string `json:"first_difference,omitempty"`
	// Trust says how well the run is simulated under its own policy. If it is not trusted, neither
	// is what Fidelity says of another policy.
	Trust    *metrics.Trust   `json:"trust"`
	Fidelity *whatif.Fidelity `json:"fidelity"`
	// Ranges say how what would have been said of starts and ends held; nil: not asked for.
	Ranges   []whatif.Reliability `json:"ranges,omitempty"`
	replayed *whatif.Replayed     // nil: with another policy
}

func (r *replaying) run(ctx context.Context, stdout io.Writer) error {
	v, err := r.judge(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", r.journal, err)
	}
	if r.format == "table" {
		err = v.table(stdout)
	} else {
		err = cli.Write(stdout, r.format, v)
	}
	if err == nil && v.First != "" {
		err = v.differs(r.journal)
	}
	return err
}

// differs returns the error that decisions differ from those recorded.
func (v *Verdict) differs(file string) error {
	err := fmt.Errorf("%s: decisions differ from those recorded: %s", file, v.First)
	if v.replayed.First.Field == "" {
		return err
	}
	return cli.Hinted(err, "other versions may give other reasons; --actions compares actions alone")
}

// judge reads the journal twice.
func (r *replaying) judge(ctx context.Context) (*Verdict, error) {
	v := &Verdict{}
	err := r.read(ctx, func(j *journal.Reader, o whatif.Options) (err error) {
		h := j.Header()
		v.Recorded, v.Policy, v.Unsealed = h.Policy, h.Policy, !j.Sealed()
		if r.policy != "" && r.policy != h.Policy {
			v.Policy = r.policy
			return nil
		}
		if v.replayed, err = whatif.Replay(ctx, j, o); err != nil {
			return err
		}
		v.Rounds, v.Actions = v.replayed.Rounds, v.replayed.Asked
		if v.replayed.First != nil {
			v.First = v.replayed.First.Error()
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	own := *r
	own.policy = ""
	err = own.read(ctx, func(j *journal.Reader, o whatif.Options) (err error) {
		v.Fidelity, err = whatif.Compare(ctx, j, o)
		return err
	})
	if err != nil {
		return nil, err
	}
	v.Trust = v.Fidelity.Trust()
	if v.Policy != v.Recorded {
		err = r.read(ctx, func(j *journal.Reader, o whatif.Options) (err error) {
			v.Fidelity, err = whatif.Compare(ctx, j, o)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	v.Truncated = v.Fidelity.Truncated
	if r.etas && v.replayed != nil && v.First == "" {
		err = r.read(ctx, func(j *journal.Reader, o whatif.Options) (err error) {
			v.Ranges, err = whatif.Reliable(ctx, j, v.Rounds, o)
			return err
		})
	}
	return v, err
}

// read opens the journal, and makes a new policy and placer like those of the recorded run.
func (r *replaying) read(ctx context.Context, use func(*journal.Reader, whatif.Options) error) error {
	j, f, err := cli.OpenJournal(ctx, r.journal)
	if err != nil {
		return err
	}
	defer f.Close()
	h := j.Header()
	again, err := run.Again(&h, r.policy, cli.FilesUntil(ctx))
	if err != nil {
		return err
	}
	return use(j, whatif.Options{Fresh: again.Fresh, Scheduler: again.Scheduler, ActionsAlone: r.actions})
}

// table writes the verdict for people.
func (v *Verdict) table(w io.Writer) error {
	switch {
	case v.replayed == nil:
		v.trust(w)
		fmt.Fprintf(w, "%s in place of %s%s\n\n", v.Policy, v.Recorded, v.stamp())
	case v.First == "":
		fmt.Fprintf(w, "%s: %d rounds, %d actions: identical\n\n", v.Policy, v.Rounds, v.Actions)
		v.trust(w)
	default:
		fmt.Fprintf(w, "%s: %d rounds, %d actions, and then a difference\n%s\n\n", v.Policy, v.Rounds-1, v.Actions, v.First)
		v.trust(w)
	}
	f := v.Fidelity
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "JOB\tRECORDED (h)\tSIMULATED (h)\tERROR (%)\t")
	for _, m := range f.Jobs {
		if m.Predicted < 0 {
			fmt.Fprintf(t, "%s\t%.3f\tnot ended\t\t\n", m.Job, hours(m.Real))
			continue
		}
		fmt.Fprintf(t, "%s\t%.3f\t%.3f\t%.1f\t\n", m.Job, hours(m.Real), hours(m.Predicted), math.Round(1000*m.Error)/10+0)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	v.ranges(w)
	_, err := fmt.Fprintf(w, "\n%d jobs: mean error %.1f %%, worst %.1f %%\nmean JCT %v, simulated %v; makespan %v, simulated %v%s\n%s",
		len(f.Jobs), 100*f.Mean, 100*f.Worst, rounded(f.RealJCT), rounded(f.PredictedJCT), rounded(f.Real), rounded(f.Predicted), v.stamp(), v.notes())
	return err
}

func hours(s journal.Seconds) float64 { return time.Duration(s).Hours() }

func rounded(s journal.Seconds) time.Duration { return time.Duration(s).Round(time.Second) }

// notes says what the simulation leaves out, and what is not known of the journal.
func (v *Verdict) notes() string {
	f, text := v.Fidelity, ""
	add := func(n int, format string) {
		if n > 0 {
			text += fmt.Sprintf("Note: "+format+"\n", n)
		}
	}
	add(f.Ended, "%d jobs were cancelled or failed; the simulation has them until then.")
	add(f.Open, "%d jobs had not ended; the simulation has them, and no time to compare.")
	add(f.Lost, "jobs lost their GPUs %d times by failures, and nodes fail when they did in the simulation, whichever jobs they have.")
	add(f.Nodes, "nodes joined or left %d times, and do in the simulation, but for nodes that are rented or lent.")
	add(f.Refused, "%d plans of the simulation broke a rule and were refused.")
	if f.Truncated {
		text += "Note: the journal has no end: it was cut off, as by a crash, or its run goes on.\n"
	}
	if v.Unsealed {
		text += "Note: " + journal.Unverified + "\n"
	}
	return text
}
