package slurm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/live/control"
	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/slurm/view"
)

// numbers are the names that Slurm gives to jobs.
var numbers = regexp.MustCompile(`^[0-9]+([_+][0-9]+|_\[[^\]]*\])?$`)

// AddExplain makes a command that explains a job of this machine's scheduler explain one of a Slurm: with
// --slurm; and where no scheduler listens, the name is a number, and there is a squeue.
func AddExplain(cmd *cobra.Command) { addExplain(cmd, newObservation()) }

// addExplain is AddExplain by a client of one's own.
func addExplain(cmd *cobra.Command, o *observation) {
	var onSlurm bool
	cmd.Flags().BoolVar(&onSlurm, "slurm", false, "a job of the Slurm of this machine's commands, by its number")
	ours := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		stated := cmd.Flags().Changed("state")
		if onSlurm && stated {
			return cli.Misused("--slurm and --state, want one of them: a Slurm has no state directory")
		}
		if !onSlurm {
			err := ours(cmd, args)
			_, none := exec.LookPath("squeue")
			if !errors.Is(err, control.ErrAbsent) || stated || none != nil || !numbers.MatchString(args[0]) {
				return err
			}
		}
		format, err := cmd.Flags().GetString("output")
		if err != nil {
			return err
		}
		return o.explain(cmd.Context(), cmd.OutOrStdout(), format, args[0])
	}
}

// explain asks Slurm how a job stands, and writes it.
func (o *observation) explain(ctx context.Context, w io.Writer, format, id string) error {
	if err := cli.CheckOutput(format, "text", "json", "yaml"); err != nil {
		return err
	}
	look, err := view.Take(ctx, o.client, time.Now)
	if err != nil {
		return Hinted(err)
	}
	runs, none := o.ask(ctx)
	e, err := view.Explain(look, runs, none, id)
	if err != nil {
		return cli.Hinted(err, `"oxgang slurm observe" lists the jobs that wait or run, and "sacct -j %s -S 2020-01-01" knows older ones`, id)
	}
	if format != "text" {
		return cli.Write(w, format, e)
	}
	var b strings.Builder
	for i := range e.Jobs {
		jobText(&b, &e.Jobs[i], e.At)
	}
	for i := range e.Ended {
		endedText(&b, &e.Ended[i], e.At)
	}
	_, err = fmt.Fprintln(w, strings.TrimRight(b.String(), "\n"))
	return err
}

// lines writes a head and, below it, fields by name; an empty line follows.
func lines(w io.Writer, head string, fields ...[2]string) {
	fmt.Fprintln(w, printable.Line(head))
	for _, f := range fields {
		if f[1] != "" {
			fmt.Fprintf(w, "  %-8s %s\n", f[0], printable.Line(f[1]))
		}
	}
	fmt.Fprintln(w)
}

// jobText writes how a job stands that runs or waits.
func jobText(w io.Writer, j *view.Job, now time.Time) {
	gpus := gpusOf(j.GPUs) + ofType(j.Type)
	whose := fmt.Sprintf(" (%s, of %s, partition %s)", j.Name, j.User, j.Partition)
	if j.State == string(client.Pending) {
		lines(w, "job "+j.ID+" waits"+whose,
			[2]string{"asked", gpus}, [2]string{"since", since(j.Submitted, now)},
			[2]string{"reason", j.Code + ": " + j.Why}, [2]string{"helps", j.Unblock}, [2]string{"start", expected(j, now)})
		return
	}
	lines(w, fmt.Sprintf("job %s is %s%s", j.ID, strings.ToLower(j.State), whose),
		[2]string{"holds", gpus + " on " + cli.Few(j.Nodes)}, [2]string{"since", since(j.Started, now)}, [2]string{"end", expected(j, now)},
		[2]string{"note", j.Note})
}

// endedText writes what became of a job.
func endedText(w io.Writer, e *view.Ended, now time.Time) {
	how := ""
	if e.Exit != 0 || e.Signal != 0 {
		how = fmt.Sprintf(", exit status %d", e.Exit)
	}
	if e.Signal != 0 {
		how += fmt.Sprintf(", signal %d", e.Signal)
	}
	ran := "never"
	if !e.Started.IsZero() && len(e.Nodes) > 0 {
		ran = fmt.Sprintf("%s on %s", printable.Short(e.Took), cli.Few(e.Nodes))
	}
	lines(w, fmt.Sprintf("job %s has ended (%s, of %s): %s%s", e.ID, e.Name, e.User, strings.ToLower(e.State), how),
		[2]string{"since", since(e.End, now)}, [2]string{"ran", ran}, [2]string{"reason", e.Code})
}

// gpusOf returns the words for a number of GPUs.
func gpusOf(n int) string {
	if n == 1 {
		return "1 GPU"
	}
	return fmt.Sprintf("%d GPUs", n)
}

// since returns a time, and how long ago it was; empty if it is not known.
func since(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	return fmt.Sprintf("%s, %s ago", t.Format("2006-01-02 15:04:05 MST"), printable.Short(now.Sub(t)))
}

// expected returns when a job is to start or end, and where that comes from.
func expected(j *view.Job, now time.Time) string {
	e := j.End
	if j.State == string(client.Pending) {
		e = j.Start
	}
	if e.Early.IsZero() && e.Late.IsZero() {
		return e.From
	}
	return etaOf(j, now) + ": " + e.From
}
