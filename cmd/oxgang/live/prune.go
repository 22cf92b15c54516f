package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/live/control"
	"github.com/oxgang/oxgang/live/local/statedir"
	"github.com/oxgang/oxgang/live/serve"
)

// PruneCommand returns the command "oxgang prune".
func PruneCommand() *cobra.Command {
	var (
		s     liveState
		texts []string
		dry   bool
	)
	cmd := &cobra.Command{
		Use: "prune", Short: "Delete old data of jobs that have ended", Args: cli.NoArgs,
		Long: `Delete old logs, checkpoints, journals and reports of jobs that have ended. Data of running
and waiting jobs stays, and job names are not reused. The scheduler does this every hour with
its own limits; --keep replaces them for this call. Without a running scheduler, only the
categories in --keep are pruned.`,
		Example: `  oxgang prune --dry-run
  oxgang prune --keep logs=7d,200MiB --keep checkpoints=90d`,
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		keep, err := parseKeep(texts)
		if err != nil {
			return cli.Usage(err)
		}
		amounts, err := s.prune(cmd.Context(), &control.PruneRequest{Keep: keep, DryRun: dry})
		if err != nil {
			return err
		}
		return pruneTable(cmd.OutOrStdout(), amounts, dry)
	}
	s.add(cmd)
	keepFlag(cmd, &texts)
	cmd.Flags().BoolVar(&dry, "dry-run", false, "show what would be deleted, without deleting")
	return cmd
}

func (s *liveState) prune(ctx context.Context, r *control.PruneRequest) ([]statedir.Amount, error) {
	dir, err := s.path()
	if err != nil {
		return nil, err
	}
	amounts, err := control.NewClient(serve.ControlSocket(dir)).Prune(ctx, r)
	if !errors.Is(err, control.ErrAbsent) {
		return amounts, s.hinted(err)
	}
	if len(r.Keep) == 0 {
		return nil, cli.Hinted(err, "set limits with --keep, or start the scheduler with %q", s.serve())
	}
	return serve.Prune(dir, r.Keep, r.DryRun)
}

func pruneTable(w io.Writer, all []statedir.Amount, dry bool) error {
	head := "DELETED"
	if dry {
		head = "WOULD DELETE"
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "CATEGORY\t%s\tBYTES\n", head)
	for _, a := range all {
		fmt.Fprintf(table, "%s\t%d\t%d\n", a.Category, a.Count, a.Bytes)
	}
	return table.Flush()
}
