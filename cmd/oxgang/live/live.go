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
	"github.com/oxgang/oxgang/live/page"
	"github.com/oxgang/oxgang/live/serve"
	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/slurm/view"
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

// Journal returns the journal in the state directory that was written last, or "".
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

// SlurmCommand returns the command "oxgang slurm".
func SlurmCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "slurm", Short: "Show a Slurm cluster's state, and order or resize its jobs",
		Long: `Show a Slurm cluster's state and reasons, recommend improvements, and apply them. It runs Slurm's commands in your
PATH, with your permissions. Only "serve" changes jobs; "submit" submits one.`,
		Example: `  oxgang slurm observe
  oxgang slurm serve --partition gpu --recommend
  oxgang slurm serve --partition gpu --dry-run`,
	}
	cli.Group(cmd)
	cmd.AddCommand(observeCommand(), serveCommand(), submitCommand())
	return cmd
}

func slurmHinted(err error) error {
	switch {
	case errors.Is(err, client.ErrNoCommand):
		return cli.Hinted(err, "run this where Slurm's commands are, such as a login node")
	case errors.Is(err, client.ErrUnreachable):
		return cli.Hinted(err, `check slurmctld with "scontrol ping"; set SLURM_CONF for another configuration`)
	case errors.Is(err, client.ErrTimeout):
		return cli.Hinted(err, `slurmctld may be overloaded; find the cause with "sdiag"`)
	case errors.Is(err, client.ErrDenied):
		return cli.Hinted(err, `see your permissions with "sacctmgr show user $USER"`)
	case errors.Is(err, client.ErrVersion), errors.Is(err, client.ErrMalformed):
		return cli.Hinted(err, "please report this with the output of the command and of \"squeue --version\"")
	case errors.Is(err, view.ErrClocks):
		return cli.Hinted(err, "set the clocks by NTP")
	case errors.Is(err, context.Canceled):
		return cli.ErrInterrupted
	}
	return err
}

// A PageSource connects the live page with the scheduler on this machine.
type PageSource struct{ state liveState }

// Add adds the flag for the state directory.
func (p *PageSource) Add(cmd *cobra.Command) { p.state.add(cmd) }

// Source connects to the scheduler, once it answers.
func (p *PageSource) Source(ctx context.Context) (page.Source, error) {
	dir, err := p.state.path()
	if err != nil {
		return nil, err
	}
	c, err := p.state.client()
	if err != nil {
		return nil, err
	}
	if _, err := c.Status(ctx, false); err != nil {
		return nil, p.state.hinted(err)
	}
	return page.NewMachine(c, serve.JournalFolder(dir)), nil
}
