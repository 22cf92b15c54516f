package machine

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
		Use: "prune", Short: "Delete old files of jobs that have ended", Args: cli.NoArgs,
		Long: `Delete what jobs that have ended, and schedulers that have ended, have left and is
not to be kept: logs, checkpoints, journals and reports. Nothing of a job that runs or
waits is deleted, and names of jobs stay taken. The scheduler does the same by itself
every hour, by its own limits; those that are named here replace them once. Without a
scheduler only the categories are pruned that --keep names.`,
		Example: `  oxgang prune --dry-run
  oxgang prune --keep logs=7d,200MiB --keep checkpoints=90d`,
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		keep, err := ParseKeep(texts)
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
	cmd.Flags().BoolVar(&dry, "dry-run", false, "say what would be deleted, and delete nothing")
	return cmd
}

// prune asks the scheduler, or prunes its state directory if there is none.
func (s *liveState) prune(ctx context.Context, r *control.PruneRequest) ([]statedir.Amount, error) {
	dir, err := s.path()
	if err != nil {
		return nil, err
	}
	amounts, err := control.NewClient(serve.ControlSocket(dir)).Prune(ctx, r)
	if !errors.Is(err, control.ErrAbsent) {
		return amounts, s.told(err)
	}
	if len(r.Keep) == 0 {
		return nil, cli.Hinted(err, "its limits are not known: say by --keep what to keep, or start it with %q", s.serve())
	}
	return serve.Prune(dir, r.Keep, r.DryRun)
}

// pruneTable writes what was deleted, or would be: a row for each category.
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
