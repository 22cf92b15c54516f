package live

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/live/monitor"
	"github.com/oxgang/oxgang/live/serve"
	"github.com/oxgang/oxgang/live/supervisor"
	"github.com/oxgang/oxgang/policy/registry"
)

// ServeCommand returns the command "oxgang serve".
func ServeCommand() *cobra.Command {
	o := serve.DefaultOptions()
	var state liveState
	var settings, keep, quotas []string
	cmd := &cobra.Command{
		Use: "serve", Short: "Run training jobs on this machine",
		Long: `Run training jobs on the GPUs of this machine, or on its CPUs, until interrupted. Running
jobs continue without it; the next start with the same state directory takes them over.`,
		Example: `  oxgang serve
  oxgang serve --slots 4 --policy srtf --round 30s
  oxgang submit --name mnist --gpus 1..4 -- python train.py`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(setKeep(&o, keep), setQuotas(&o, quotas), prepare(&o, &state, settings)); err != nil {
				return cli.Usage(err)
			}
			o.Log = cmd.ErrOrStderr()
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGTERM)
			defer stop()
			flush, err := traces(ctx, &o)
			if err != nil {
				return err
			}
			defer flush()
			return serve.Run(ctx, o)
		},
	}
	state.add(cmd)
	keepFlag(cmd, &keep)
	f := cmd.Flags()
	f.IntVar(&o.Slots, "slots", 0, "places for workers; 0: one per GPU, or per core without GPUs")
	f.StringVar(&o.Policy, "policy", o.Policy, `policy (see "oxgang policies")`)
	f.StringArrayVar(&settings, "set", nil, "setting of the policy: name=value")
	f.DurationVar(&o.Round, "round", o.Round, "time between plans")
	f.DurationVar(&o.Grace, "grace", o.Grace, "time from a notice until workers are killed")
	f.DurationVar(&o.Report, "report", o.Report, "time between reports of training programs")
	f.StringVar(&o.Listen, "listen", o.Listen, "loopback address for reports of training programs")
	f.StringVar(&o.Metrics, "metrics", "", "loopback address for Prometheus metrics, such as 127.0.0.1:9464; empty: none")
	f.StringVar(&o.Group, "group", "", "group whose members may submit jobs, which run as the submitting user; needs root")
	f.StringArrayVar(&quotas, "quota", nil, `maximum GPUs of a user, such as alice=4, or '*=2' for all others; needs --group`)
	f.BoolVar(&o.Recover, "recover", false, "rebuild lost parts of the database from the directories of jobs")
	f.StringVar(&o.Cgroup, "cgroup", o.Cgroup, "cgroup v2 directory that limits and contains jobs; auto: the one delegated by systemd, if any; empty: none")
	return cmd
}

func setKeep(o *serve.Options, texts []string) error {
	keep, err := parseKeep(texts)
	o.Keep = o.Keep.With(keep)
	return err
}

func setQuotas(o *serve.Options, texts []string) error {
	for _, s := range texts {
		name, text, _ := strings.Cut(s, "=")
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || name == "" {
			return fmt.Errorf("--quota %q, want a user and GPUs, such as alice=4 or '*=2'", s)
		}
		if o.Quotas == nil {
			o.Quotas = map[string]int{}
		}
		o.Quotas[name] = n
	}
	return nil
}

func traces(ctx context.Context, o *serve.Options) (flush func(), err error) {
	if !monitor.TracesWanted(os.Getenv) {
		return func() {}, nil
	}
	p, err := monitor.NewTraces(ctx, "oxgang", cli.Version())
	if err != nil {
		return nil, err
	}
	o.Traces = p
	return func() {
		soon, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		if err := p.Shutdown(soon); err != nil {
			fmt.Fprintf(o.Log, "traces: the last ones were lost: %v\n", err)
		}
	}, nil
}

func prepare(o *serve.Options, state *liveState, settings []string) (err error) {
	if o.Dir, err = state.path(); err != nil {
		return err
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	o.Supervisor, o.Tool = []string{exe, "keeper"}, "oxgang "+cli.Version()
	o.Settings = make(map[string]string)
	for _, s := range settings {
		name, value, ok := strings.Cut(strings.TrimPrefix(s, o.Policy+"."), "=")
		if !ok {
			return fmt.Errorf("--set %q, want name=value", s)
		}
		o.Settings[name] = value
	}
	if _, err := registry.New(o.Policy, o.Settings); err != nil {
		return err
	}
	return o.Validate()
}

// SupervisorCommand returns the internal command that "oxgang serve" runs for every start of a job.
func SupervisorCommand() *cobra.Command {
	return &cobra.Command{
		Use: "keeper DIR", Hidden: true, Args: cli.OneArg("directory"),
		RunE: func(_ *cobra.Command, args []string) error { return supervisor.Main(args[0]) },
	}
}
