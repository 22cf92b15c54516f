package live

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/live/slurm"
	"github.com/oxgang/oxgang/live/slurm/client"
)

var advised = []string{"table", "json", "yaml", "csv"}

type advisedJob struct {
	Job   string `json:"job"`
	User  string `json:"user"`
	Part  string `json:"part"`  // order or elastic
	GPUs  int    `json:"gpus"`  // requested, or held by an elastic job; 0 if it waits
	Does  string `json:"does"`  // Oxgang's action
	Why   string `json:"why"`   // in words
	Slurm string `json:"slurm"` // reason code
}

func recommend(ctx context.Context, w io.Writer, format string, c *slurm.Config) error {
	all, o, err := slurm.Recommend(ctx, &client.Client{}, c)
	if err != nil {
		return err
	}
	if format == "table" {
		return adviceTable(w, rowsOf(all), o)
	}
	return cli.Write(w, format, rowsOf(all))
}

func rowsOf(all []slurm.Advice) []advisedJob {
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
