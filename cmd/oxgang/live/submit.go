package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/live/control"
	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

type submission struct {
	state     liveState
	request   control.Request
	gpus      string
	types     []string
	memory    string
	noPreempt bool
	wait      bool
}

// SubmitCommand returns the command "oxgang submit".
func SubmitCommand() *cobra.Command {
	s := submission{request: control.NewRequest()}
	cmd := &cobra.Command{
		SuggestFor: []string{"run", "start", "sbatch", "create"},
		Use:        "submit [flags] -- COMMAND [ARG...]", Short: "Submit a job to this machine's scheduler",
		Long: `Submit a job to this machine's scheduler (oxgang serve) and print its name. The job gets
this environment and working directory. It runs one process per GPU, like torchrun. With the
client (python: import oxgang), its number of GPUs can change while it trains.`,
		Example: `  oxgang submit --gpus 1..4 -- python train.py --epochs 10
  oxgang submit --name eval --wait -- ./evaluate.sh`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usage(cli.Hinted(errors.New("no command to run"), `run "oxgang submit --help" for usage`))
			}
			return nil
		},
	}
	cmd.RunE = s.state.asking(func(cmd *cobra.Command, c *control.Client, args []string) error {
		if err := s.complete(args, cmd.ErrOrStderr()); err != nil {
			return err
		}
		id, err := c.Submit(cmd.Context(), &s.request)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(cmd.OutOrStdout(), id); err != nil || !s.wait {
			return err
		}
		return await(cmd.Context(), c, id, cmd.ErrOrStderr())
	})
	s.add(cmd)
	return cmd
}

func (s *submission) add(cmd *cobra.Command) {
	s.state.add(cmd)
	f, r := cmd.Flags(), &s.request
	f.SetInterspersed(false) // flags after the command belong to the command
	f.StringVar(&r.Name, "name", "", "name (default: from the command); gets a number if taken")
	f.StringVar(&s.gpus, "gpus", "1", "number of GPUs: 2, or a range such as 1..4")
	f.StringArrayVar(&s.types, "type", nil, "allowed GPU type; repeat for more (default: any)")
	f.StringVar((*string)(&r.Class), "class", "", "class of jobs that learn from each other (default: --name without its number)")
	f.IntVar(&r.Batch, "batch", 0, "samples per step, on all GPUs (default: reported by the program)")
	f.Float64Var(&r.Samples, "samples", 0, "samples to completion (default: reported by the program)")
	f.Float64Var(&r.CPUs, "cpus", 0, "cores for all GPUs (default: their share)")
	f.StringVar(&s.memory, "memory", "", "host memory for all GPUs, such as 8GiB (default: no limit)")
	f.Float64Var(&r.Weight, "weight", r.Weight, "weight of the job, for policies with shares")
	f.BoolVar(&s.noPreempt, "no-preempt", false, "never preempt the job")
	f.Float64Var(&r.RestartSeconds, "restart", r.RestartSeconds, "assumed cost of a restart in seconds, until measured")
	f.StringVar(&r.Dir, "dir", "", "working directory (default: this one)")
	f.BoolVar(&s.wait, "wait", false, "wait until the job ends, and fail if it fails")
}

func (s *submission) complete(command []string, stderr io.Writer) (err error) {
	r := &s.request
	r.Command, r.Preemptible = command, !s.noPreempt
	if r.GPUs, err = cli.ParseRange(s.gpus); err != nil {
		return cli.Usage(err)
	}
	if r.Memory, err = ParseBytes(s.memory); err != nil {
		return cli.Misused("--memory %w", err)
	}
	for _, t := range s.types {
		r.GPUTypes = append(r.GPUTypes, cluster.GPUType(t))
	}
	if r.Dir, err = filepath.Abs(r.Dir); err != nil {
		return fmt.Errorf("working directory: %w", err)
	}
	var odd []string
	r.Env, odd = Captured(os.Environ())
	for _, name := range odd {
		fmt.Fprintf(stderr, "skipped: environment variable %q is not UTF-8\n", name)
	}
	for _, text := range append([]string{r.Dir}, command...) {
		if !utf8.ValidString(text) { // JSON would change it
			return fmt.Errorf("%q: not UTF-8", text)
		}
	}
	if err := r.Validate(); err != nil {
		return cli.Usage(err)
	}
	return nil
}

const askTime = time.Second

func await(ctx context.Context, c *control.Client, id job.ID, stderr io.Writer) error {
	silent := false
	for {
		v, err := c.Job(ctx, id)
		switch {
		case ctx.Err() != nil:
			return cli.Hinted(fmt.Errorf("%w; %s continues", cli.ErrInterrupted, printable.Named("job", string(id))), "cancel it with: oxgang cancel %s", id)
		case errors.Is(err, control.ErrAbsent):
			if !silent {
				fmt.Fprintf(stderr, "%s; waiting for it\n", printable.Line(err.Error()))
			}
		case err != nil:
			return err
		case v.HasEnded():
			return outcome(&v)
		}
		silent = err != nil
		select {
		case <-ctx.Done():
		case <-time.After(askTime):
		}
	}
}

func outcome(v *status.Job) error {
	if v.Outcome == scheduler.Done.String() {
		return nil
	}
	err := errors.New(printable.Named("job", string(v.ID)) + ": " + v.Outcome)
	if v.Detail != "" {
		err = fmt.Errorf("%w: %s", err, status.Headline(v.Detail))
	}
	return cli.Hinted(err, "see its output with: oxgang logs %s", v.ID)
}

var units = map[string]float64{
	"": 1, "b": 1,
	"k": 1 << 10, "kib": 1 << 10, "kb": 1e3,
	"m": 1 << 20, "mib": 1 << 20, "mb": 1e6,
	"g": 1 << 30, "gib": 1 << 30, "gb": 1e9,
	"t": 1 << 40, "tib": 1 << 40, "tb": 1e12,
}

// ParseBytes parses an amount of memory: "8GiB", "8G" (the same), "8.5 GB" or a number of bytes. "" is 0.
func ParseBytes(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	end := strings.LastIndexAny(text, "0123456789.") + 1
	n, err := strconv.ParseFloat(text[:end], 64)
	unit, known := units[strings.ToLower(strings.TrimSpace(text[end:]))]
	if err != nil || !known || !(n > 0 && n*unit >= 1 && n*unit < 1<<60) {
		return 0, fmt.Errorf("%q, want a size such as 8GiB or 500MB", text)
	}
	return int64(math.Round(n * unit)), nil
}

var dropped = []string{
	"RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_RANK", "GROUP_WORLD_SIZE",
	"ROLE_NAME", "ROLE_RANK", "ROLE_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "CUDA_VISIBLE_DEVICES",
}

// Captured returns the part of an environment that a job inherits (env), and the variables that cannot be sent to the
// scheduler (odd).
func Captured(environ []string) (env, odd []string) {
	for _, line := range environ {
		name, _, _ := strings.Cut(line, "=")
		switch {
		case name == "" || strings.HasPrefix(name, "OXGANG_") || strings.HasPrefix(name, "TORCHELASTIC_") || slices.Contains(dropped, name):
		case !utf8.ValidString(line):
			odd = append(odd, name)
		default:
			env = append(env, line)
		}
	}
	return env, odd
}
