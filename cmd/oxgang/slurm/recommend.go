package slurm

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/live/slurm"
	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/slurm/service"
)

// recommendation is one call of recommend.
type recommendation struct {
	format string
	config configFlags
}

// advised are the formats of recommend.
var advised = []string{"table", "json", "yaml", "csv"}

// An advisedJob is a row of recommend.
type advisedJob struct {
	Job   string `json:"job"`
	User  string `json:"user"`
	Part  string `json:"part"`  // order or elastic
	GPUs  int    `json:"gpus"`  // asked for or, of an elastic job, held; 0: it waits
	Does  string `json:"does"`  // what Oxgang would do
	Why   string `json:"why"`   // in words
	Slurm string `json:"slurm"` // Slurm's reason code of a job that waits
}

// recommendCommand returns the command "oxgang slurm recommend".
func recommendCommand() *cobra.Command {
	r := recommendation{config: configFlags{now: service.Defaults()}}
	cmd := &cobra.Command{
		SuggestFor: []string{"advise", "plan"},
		Use:        "recommend", Short: "Say what Oxgang would do with each job that takes part, and why", Args: cli.NoArgs,
		Long: `Say what Oxgang would do with each job of a partition that takes part, and why. It plans one round from what
Slurm shows now, and writes nothing. A job takes part by "#SBATCH --comment=oxgang:order", or
"#SBATCH --comment=oxgang:elastic;min=2;max=16" if it may be stopped and started with another number of GPUs.`,
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

// adviceTable writes rows for people, and then the jobs that ask to take part and do not.
func adviceTable(w io.Writer, rows []advisedJob, o *slurm.Observation) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "JOB\tUSER\tPART\tGPUS\tSLURM\tOXGANG WOULD\tBECAUSE")
	for _, r := range rows {
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%s\t%s\t%s\n", r.Job, printable.Line(r.User), r.Part, r.GPUs, printable.Line(r.Slurm), r.Does, printable.Line(r.Why))
	}
	for i := range o.Jobs {
		if j := &o.Jobs[i]; !j.Takes() {
			fmt.Fprintf(t, "note: job %s takes no part: %s\n", j.Label(), printable.Line(j.Trouble))
		}
	}
	return t.Flush()
}
