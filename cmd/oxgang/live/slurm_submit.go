package live

import (
	"context"
	"errors"
	"fmt"
	"os/user"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/live/slurm/client"
)

type slurmSubmission struct {
	job   client.ElasticJob
	gpus  string
	types []string
	print bool
}

func submitCommand() *cobra.Command {
	s := slurmSubmission{job: client.ElasticJob{Grace: time.Minute}}
	cmd := &cobra.Command{
		SuggestFor: []string{"sbatch", "run"},
		Use:        "submit [flags] -- COMMAND [ARG...]", Short: "Submit an elastic job to Slurm",
		Long: `Submit an elastic job to Slurm, and print its number. It runs one process per GPU, like torchrun. Its
checkpoints are in .oxgang below this directory, which all nodes must share.

The job waits in Slurm like any job, for its minimum number of GPUs. If "oxgang slurm serve --mode
resize" manages its partition, its number of GPUs can change: the program gets a notice, saves a
checkpoint and exits with status 75, and Oxgang starts it again. A program with the client (python:
import oxgang) does this when it gets a notice.`,
		Example: `  oxgang slurm submit --gpus 2..16 -- python train.py
  oxgang slurm submit --gpus 1..8 --partition gpu --time 4h -- python train.py --epochs 10`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usage(cli.Hinted(errors.New("no command to run"), `run "oxgang slurm submit --help" for usage`))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := s.complete(args); err != nil {
				return cli.Usage(err)
			}
			out, err := s.submit(cmd.Context(), &client.Client{})
			if err != nil {
				return slurmHinted(err)
			}
			_, err = fmt.Fprint(cmd.OutOrStdout(), out)
			return err
		},
	}
	f := cmd.Flags()
	f.SetInterspersed(false) // flags after the command belong to the command
	f.StringVar(&s.gpus, "gpus", "1", "number of GPUs: 2, or a range such as 2..16")
	f.StringArrayVar(&s.types, "type", nil, "allowed GPU type; repeat for more (default: any)")
	f.StringVar((*string)(&s.job.Request.Class), "class", "", "class of jobs that learn from each other")
	f.StringVar(&s.job.Name, "name", "", "name of the job")
	f.StringVar(&s.job.Partition, "partition", "", "partition (default: Slurm's default)")
	f.StringVar(&s.job.Account, "account", "", "account (default: yours)")
	f.StringVar(&s.job.Output, "output", "", "output file, as for sbatch; every start appends")
	f.DurationVar(&s.job.Limit, "time", 0, "time limit of each start (default: the partition's)")
	f.IntVar(&s.job.CPUs, "cpus", 0, "cores per GPU (default: Slurm's)")
	f.DurationVar(&s.job.Grace, "grace", s.job.Grace, "time from a notice until it is stopped; must match the scheduler's")
	f.BoolVar(&s.print, "print", false, "print the script and options for sbatch, without submitting")
	return cmd
}

func (s *slurmSubmission) complete(command []string) error {
	r, err := cli.ParseRange(s.gpus)
	if err != nil {
		return err
	}
	q := &s.job.Request
	q.Part, q.Min, q.Max, q.Type = client.Elastic, r.Min, r.Max, strings.Join(s.types, "+")
	if _, err := client.ParseRequest(q.String()); err != nil {
		return err
	}
	who, err := user.Current()
	if err != nil {
		return fmt.Errorf("user: %w", err)
	}
	s.job.Command, s.job.Token = command, client.NewToken(who.Username)
	return nil
}

func (s *slurmSubmission) submit(ctx context.Context, c *client.Client) (string, error) {
	script, err := s.job.Script()
	if err != nil {
		return "", err
	}
	nodes, err := c.Nodes(ctx)
	if err != nil {
		return "", err
	}
	options, err := s.job.Options(client.MostGPUs(nodes, s.job.Partition, s.types))
	if err != nil {
		return "", err
	}
	if s.print {
		return fmt.Sprintf("%s# sbatch %s\n", script, strings.Join(options, " ")), nil
	}
	id, err := c.Submit(ctx, script, options...)
	if err != nil {
		return "", err
	}
	return id.String() + "\n", nil
}
