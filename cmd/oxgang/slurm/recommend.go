package slurm

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/live/slurm"
	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/slurm/service"
)

type recommendation struct {
	format string
	config configFlags
}

// advised are the output formats.
var advised = []string{"table", "json", "yaml", "csv"}

// An advisedJob is a row of recommend.
type advisedJob struct {
	Job   string `json:"job"`
	User  string `json:"user"`
	Part  string `json:"part"`  // order or elastic
	GPUs  int    `json:"gpus"`  // requested or, for an elastic job, held; 0 if it waits
	Does  string `json:"does"`  // Oxgang's action
	Why   string `json:"why"`   // in words
	Slurm string `json:"slurm"` // Slurm's reason code for a waiting job
}

// recommendCommand returns the command "oxgang slurm recommend".
func recommendCommand() *cobra.Command {
	r := recommendation{config: configFlags{now: service.Defaults()}}
	cmd := &cobra.Command{
		SuggestFor: []string{"advise", "plan"},
		Use:        "recommend", Short: "Show what Oxgang would do with each job that has opted in, and why", Args: cli.NoArgs,
		Long: `Show what Oxgang would do with each job of a partition that has opted in, and why. It plans one round from
Slurm's current state, and changes nothing. A job opts in with "#SBATCH --comment=oxgang:order", or with
"#SBATCH --comment=oxgang:elastic;min=2;max=16" if it may be restarted with another number of GPUs.`,
		Example: `  oxgang slurm recommend --partition gpu
  oxgang slurm recommend --config /etc/oxgang/slurm.yaml -o json`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cli.CheckOutput(r.format, advised...); err != nil {
				return err
			}
			c, err := r.config.read()
			if err != nil {
				return err
			}
			all, o, err := service.Recommend(cmd.Context(), &client.Client{}, c)
			if err != nil {
				return Hinted(err)
			}
			if r.format == "table" {
				return adviceTable(cmd.OutOrStdout(), rowsOf(all), o)
			}
			return cli.Write(cmd.OutOrStdout(), r.format, rowsOf(all))
		},
	}
	r.config.add(cmd)
	cli.Output(cmd, &r.format, advised...)
	return cmd
}

func rowsOf(all []service.Advice) []advisedJob {
	rows := make([]advisedJob, len(all))
	for i := range all {
		a := &all[i]
		rows[i] = advisedJob{
			Job: a.Job.Label(), User: a.Job.User, Part: a.Job.Part.String(), GPUs: slurm.Wants(a.Job.Job), Does: a.Does(), Why: a.Because(),
		}
		if a.Job.Waits() {
			rows[i].Slurm = a.Job.Reason
		}
	}
	return rows
}

// adviceTable writes the rows for people, and then the jobs with a wrong opt-in.
func adviceTable(w io.Writer, rows []advisedJob, o *slurm.Observation) error {
	var text strings.Builder
	t := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "JOB\tUSER\tPART\tGPUS\tSLURM\tACTION\tREASON")
	for _, r := range rows {
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%s\t%s\t%s\n", r.Job, printable.Line(r.User), r.Part, r.GPUs, printable.Line(r.Slurm), r.Does, printable.Line(r.Why))
	}
	for i := range o.Jobs {
		if j := &o.Jobs[i]; !j.Takes() {
			fmt.Fprintf(t, "note: job %s is not managed: %s\n", j.Label(), printable.Line(j.Trouble))
		}
	}
	_ = t.Flush() // in memory
	_, err := io.WriteString(w, printable.Cut(text.String(), cli.Columns(w)))
	return err
}
