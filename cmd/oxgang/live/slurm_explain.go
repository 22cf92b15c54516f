package live

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/live/control"
	"github.com/oxgang/oxgang/live/slurm/view"
	"github.com/oxgang/oxgang/live/status"
)

var numbers = regexp.MustCompile(`^[0-9]+([_+][0-9]+|_\[[^\]]*\])?$`)

// AddSlurmExplain extends the command "oxgang explain" to jobs of Slurm.
func AddSlurmExplain(cmd *cobra.Command) { addExplain(cmd, newObservation()) }

func addExplain(cmd *cobra.Command, o *observation) {
	var onSlurm bool
	cmd.Flags().BoolVar(&onSlurm, "slurm", false, "explain a Slurm job, by its number")
	ours := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		stated := cmd.Flags().Changed("state")
		if onSlurm && stated {
			return cli.Misused("use either --slurm or --state: Slurm has no state directory")
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

func (o *observation) explain(ctx context.Context, w io.Writer, format, id string) error {
	if err := cli.CheckOutput(format, "text", "json", "yaml"); err != nil {
		return err
	}
	look, err := view.Take(ctx, o.client, time.Now)
	if err != nil {
		return slurmHinted(err)
	}
	runs, none := o.ask(ctx)
	e, err := view.Explain(look, runs, none, id)
	if err != nil {
		return cli.Hinted(err, `list waiting and running jobs with "oxgang slurm observe"; find older ones with "sacct -j %s -S 2020-01-01"`, id)
	}
	if format != "text" {
		return cli.Write(w, format, e)
	}
	var b strings.Builder
	for _, jobs := range [][]status.Job{e.Jobs, e.Ended} {
		for i := range jobs {
			if b.Len() > 0 {
				b.WriteString("\n")
			}
			if err := jobs[i].WriteText(&b, e.At); err != nil {
				return err
			}
		}
	}
	_, err = io.WriteString(w, b.String())
	return err
}
