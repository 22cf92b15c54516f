package live

import (
	"context"
	"encoding/json"
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
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/whatif"
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

// A Scheduler finds the scheduler of this machine by its state directory.
type Scheduler struct{ state liveState }

// AddFlags adds the flag for the state directory to a command.
func (s *Scheduler) AddFlags(cmd *cobra.Command) { s.state.add(cmd) }

// Try returns when a job would start if it were submitted now. Nothing is submitted. The error is control.ErrAbsent if
// no scheduler runs.
func (s *Scheduler) Try(ctx context.Context, spec *job.Spec) (*whatif.TrialAnswer, error) {
	c, err := s.state.client()
	if err != nil {
		return nil, err
	}
	text, err := c.Try(ctx, spec)
	if err != nil {
		return nil, s.state.hinted(err)
	}
	a := new(whatif.TrialAnswer)
	return a, json.Unmarshal(text, a)
}

// Journal returns the most recently written journal in the state directory, or "" if there is none.
func (s *Scheduler) Journal() (string, error) {
	dir, err := s.state.path()
	if err != nil {
		return "", err
	}
	files, err := filepath.Glob(filepath.Join(dir, "journal*", "*.oxj")) // of this machine's scheduler, or of Slurm's
	if err != nil {
		return "", err
	}
	newest, at := "", time.Time{}
	for _, file := range files {
		if info, err := os.Stat(file); err == nil && info.ModTime().After(at) {
			newest, at = file, info.ModTime()
		}
	}
	return newest, nil
}
