package machine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/live/control"
	"github.com/oxgang/oxgang/live/serve"
)

// A liveState is the state directory of the scheduler of this machine: a flag of every command
// about it.
type liveState struct{ dir string }

func (s *liveState) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.dir, "state", "", "state directory of the scheduler (default $OXGANG_STATE, else $XDG_STATE_HOME/oxgang, else ~/.local/state/oxgang)")
}

// path returns the state directory, absolute: as the flag says, or the environment.
func (s *liveState) path() (string, error) {
	dir := s.dir
	switch {
	case dir != "":
	case os.Getenv("OXGANG_STATE") != "":
		dir = os.Getenv("OXGANG_STATE")
	case filepath.IsAbs(os.Getenv("XDG_STATE_HOME")): // the XDG specification has relative ones ignored
		dir = filepath.Join(os.Getenv("XDG_STATE_HOME"), "oxgang")
	default:
		home, err := os.UserHomeDir()
		if err != nil {
			return "", cli.Hinted(fmt.Errorf("state directory: %w", err), "--state says where it is")
		}
		dir = filepath.Join(home, ".local", "state", "oxgang")
	}
	return filepath.Abs(dir)
}

// client returns one of the scheduler.
func (s *liveState) client() (*control.Client, error) {
	dir, err := s.path()
	if err != nil {
		return nil, err
	}
	return control.NewClient(serve.ControlSocket(dir)), nil
}

// told returns an error of the scheduler with what to do next.
func (s *liveState) told(err error) error {
	if e, ok := errors.AsType[*control.Error](err); ok && e.Hint != "" {
		return cli.Hinted(err, "%s", e.Hint)
	}
	switch {
	case errors.Is(err, control.ErrAbsent):
		return cli.Hinted(err, "start one with %q", s.serve())
	case errors.Is(err, context.Canceled):
		return cli.ErrInterrupted
	}
	return err
}

// serve returns the command that starts the scheduler.
func (s *liveState) serve() string {
	if s.dir == "" {
		return "oxgang serve"
	}
	return "oxgang serve --state " + s.dir
}

// asking returns the function of a command that sends requests to the scheduler. Its errors have
// hints.
func (s *liveState) asking(f func(*cobra.Command, *control.Client, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		c, err := s.client()
		if err != nil {
			return err
		}
		return s.told(f(cmd, c, args))
	}
}

// completeJobs makes shells complete the names of jobs; all: also of those that ended.
// The command takes at most so many.
func (s *liveState) completeJobs(cmd *cobra.Command, all bool, most int) {
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		const none = cobra.ShellCompDirectiveNoFileComp
		c, err := s.client()
		if err != nil || len(args) >= most {
			return nil, none
		}
		ctx, stop := context.WithTimeout(cmd.Context(), time.Second) // somebody waits at the key
		defer stop()
		now, err := c.Status(ctx, all)
		if err != nil {
			return nil, none
		}
		var found []string
		jobs := now.All()
		for i := range jobs {
			name := string(jobs[i].ID)
			if strings.HasPrefix(name, typed) && !slices.Contains(args, name) {
				found = append(found, name+"\t"+jobs[i].Phase)
			}
		}
		return found, none
	}
}
