package slurm

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
	"github.com/oxgang/oxgang/live/slurm/comment"
)

// submission is one call of submit.
type submission struct {
	job   comment.Job
	gpus  string
	types []string
	print bool
}

// submitCommand returns the command "oxgang slurm submit".
func submitCommand() *cobra.Command {
	s := submission{job: comment.Job{Grace: time.Minute}}
	cmd := &cobra.Command{
		SuggestFor: []string{"sbatch", "run"},
		Use:        "submit [flags] -- COMMAND [ARG...]", Short: "Give Slurm an elastic job",
		Long: `Give Slurm an elastic job, and print its number. It runs as one process for each GPU, as torchrun starts them. Its
checkpoints are in .oxgang below this directory, which all nodes must share.

It waits in Slurm like any job, on the fewest GPUs that it may have. Where "oxgang slurm serve --mode resize" serves
its partition, it gets more and fewer as it goes: it is told, saves a checkpoint, ends with status 75, and goes on
from there. A program with the client (python: import oxgang) does all that.`,
		Example: `  oxgang slurm submit --gpus 2..16 -- python train.py
  oxgang slurm submit --gpus 1..8 --partition gpu --time 4h -- python train.py --epochs 10`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usage(cli.Hinted(errors.New("no command, want what to run"), `run "oxgang slurm submit --help" for usage`))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := s.complete(args); err != nil {
				return cli.Usage(err)
			}
			out, err := s.submit(cmd.Context(), &client.Client{})
			if err != nil {
				return Hinted(err)
			}
			_, err = fmt.Fprint(cmd.OutOrStdout(), out)
			return err
		},
	}
	f := cmd.Flags()
	f.SetInterspersed(false) // flags after the command are the command's
	f.StringVar(&s.gpus, "gpus", "1", "GPUs: 2, or from least to most as 2..16")
	f.StringArrayVar(&s.types, "type", nil, "GPU type that it may run on; again for more (default any)")
	f.StringVar((*string)(&s.job.Request.Class), "class", "", "class of jobs that learn from each other")
	f.StringVar(&s.job.Name, "name", "", "name of the job")
	f.StringVar(&s.job.Partition, "partition", "", "partition (default: Slurm's)")
	f.StringVar(&s.job.Account, "account", "", "account (default: yours)")
	f.StringVar(&s.job.Output, "output", "", "file for the output, as of sbatch; every start appends")
	f.DurationVar(&s.job.Limit, "time", 0, "time limit of each start (default: the partition's)")
	f.IntVar(&s.job.CPUs, "cpus", 0, "cores for each GPU (default: Slurm's)")
	f.DurationVar(&s.job.Grace, "grace", s.job.Grace, "time from a notice until it is stopped, as the scheduler has it")
	f.BoolVar(&s.print, "print", false, "print the script and the options of sbatch, and submit nothing")
	return cmd
}

// complete makes the job from the command line.
func (s *submission) complete(command []string) error {
	r, err := cli.ParseRange(s.gpus)
	if err != nil {
		return err
	}
	q := &s.job.Request
	q.Part, q.Min, q.Max, q.Type = comment.Elastic, r.Min, r.Max, strings.Join(s.types, "+")
	if _, err := comment.ParseRequest(q.String()); err != nil {
		return err
	}
	who, err := user.Current()
	if err != nil {
		return fmt.Errorf("whose job it is: %w", err)
	}
	s.job.Command, s.job.Token = command, comment.NewToken(who.Username)
	return nil
}

// submit submits the job, and returns what to print.
func (s *submission) submit(ctx context.Context, c *client.Client) (string, error) {
	script, err := s.job.Script()
	if err != nil {
		return "", err
	}
	nodes, err := c.Nodes(ctx)
	if err != nil {
		return "", err
	}
	options, err := s.job.Options(comment.MostGPUs(nodes, s.job.Partition, s.types))
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
