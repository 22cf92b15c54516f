package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/live/control"
	"github.com/oxgang/oxgang/model/job"
)

// CancelCommand returns the command "oxgang cancel".
func CancelCommand() *cobra.Command {
	var s liveState
	cmd := &cobra.Command{
		SuggestFor: []string{"kill", "stop", "delete", "rm", "scancel"},
		Use:        "cancel NAME...", Short: "Cancel jobs",
		Long: `Cancel jobs: their processes get SIGTERM, and SIGKILL if needed. Checkpoints stay.
The name of each cancelled job is printed.`,
		Example: `  oxgang cancel mnist mnist-2`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usage(cli.Hinted(errors.New("oxgang cancel needs at least one NAME"), `run "oxgang cancel --help" for usage`))
			}
			return nil
		},
	}
	cmd.RunE = s.asking(func(cmd *cobra.Command, c *control.Client, names []string) error {
		if len(names) == 1 {
			return cancel(cmd.Context(), c, names[0], cmd.OutOrStdout())
		}
		return cancelAll(cmd.Context(), c, names, cmd.OutOrStdout())
	})
	s.add(cmd)
	s.completeJobs(cmd, false, math.MaxInt)
	return cmd
}

func cancel(ctx context.Context, c *control.Client, name string, w io.Writer) error {
	if err := c.Cancel(ctx, job.ID(name)); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, name)
	return err
}

func cancelAll(ctx context.Context, c *control.Client, names []string, w io.Writer) error {
	var errs []error
	for _, name := range names {
		err := cancel(ctx, c, name, w)
		if refused, ok := errors.AsType[*control.Error](err); ok { // continue with the next job
			errs = append(errs, inLine(refused))
			continue
		}
		if err != nil {
			return errors.Join(append(errs, err)...)
		}
	}
	return errors.Join(errs...)
}

func inLine(e *control.Error) error {
	if e.Hint == "" {
		return errors.New(e.Message)
	}
	return fmt.Errorf("%s (%s)", e.Message, e.Hint)
}
