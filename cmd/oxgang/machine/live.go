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

type liveState struct{ dir string }

func (s *liveState) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.dir, "state", "", "state directory of the scheduler (default $OXGANG_STATE, else $XDG_STATE_HOME/oxgang, else ~/.local/state/oxgang)")
}

func (s *liveState) path() (string, error) {
	dir := s.dir
	switch {
	case dir != "":
	case os.Getenv("OXGANG_STATE") != "":
		dir = os.Getenv("OXGANG_STATE")
	case filepath.IsAbs(os.Getenv("XDG_STATE_HOME")): // the XDG specification ignores relative paths
		dir = filepath.Join(os.Getenv("XDG_STATE_HOME"), "oxgang")
	default:
		home, err := os.UserHomeDir()
		if err != nil {
			return "", cli.Hinted(fmt.Errorf("state directory: %w", err), "set it with --state")
		}
		dir = filepath.Join(home, ".local", "state", "oxgang")
	}
	return filepath.Abs(dir)
}

func (s *liveState) client() (*control.Client, error) {
	dir, err := s.path()
	if err != nil {
		return nil, err
	}
	return control.NewClient(serve.ControlSocket(dir)), nil
}

func (s *liveState) hinted(err error) error {
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

func (s *liveState) serve() string {
	if s.dir == "" {
		return "oxgang serve"
	}
	return "oxgang serve --state " + s.dir
}

func (s *liveState) asking(f func(*cobra.Command, *control.Client, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		c, err := s.client()
		if err != nil {
			return err
		}
		return s.hinted(f(cmd, c, args))
	}
}

func (s *liveState) completeJobs(cmd *cobra.Command, all bool, most int) {
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		const none = cobra.ShellCompDirectiveNoFileComp
		c, err := s.client()
		if err != nil || len(args) >= most {
			return nil, none
		}
		ctx, stop := context.WithTimeout(cmd.Context(), time.Second) // somebody waits
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
