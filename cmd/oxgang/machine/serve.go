package machine

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
	"github.com/oxgang/oxgang/live/monitor/otlp"
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
		Long: `Run training jobs on the GPUs of this machine, or on slots of its CPUs, until
interrupted. Jobs go on without it: started again on the same state directory, it
takes them up where they are.`,
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
	f.IntVar(&o.Slots, "slots", 0, "places for workers; 0: one for each GPU, or core where there is no GPU")
	f.StringVar(&o.Policy, "policy", o.Policy, `policy (see "oxgang policies")`)
	f.StringArrayVar(&settings, "set", nil, "setting of the policy, as name=value")
	f.DurationVar(&o.Round, "round", o.Round, "time between plans")
	f.DurationVar(&o.Grace, "grace", o.Grace, "time from a notice until workers are killed")
	f.DurationVar(&o.Report, "report", o.Report, "time between reports of training programs")
	f.StringVar(&o.Listen, "listen", o.Listen, "where training programs report, on loopback")
	f.StringVar(&o.Metrics, "metrics", "", "where Prometheus finds metrics, on loopback, as 127.0.0.1:9464; empty: nowhere")
	f.StringVar(&o.Group, "group", "", "group whose members may submit jobs, which run as who submitted them: serve must be root's")
	f.StringArrayVar(&quotas, "quota", nil, `GPUs that the jobs of a user may hold at once, as alice=4, or '*=2' for all others; with --group`)
	f.BoolVar(&o.Recover, "recover", false, "rebuild the database from the folders of jobs, where it has lost some")
	f.StringVar(&o.Cgroup, "cgroup", o.Cgroup, "cgroup v2 directory in which jobs are limited and from which no process of theirs escapes; auto: the one that systemd has delegated, if any; empty: none")
	return cmd
}

// setKeep replaces the limits of the kinds that texts name.
func setKeep(o *serve.Options, texts []string) error {
	keep, err := ParseKeep(texts)
	o.Keep = o.Keep.With(keep)
	return err
}

// setQuotas sets the quotas that texts state.
func setQuotas(o *serve.Options, texts []string) error {
	for _, s := range texts {
		name, text, _ := strings.Cut(s, "=")
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || name == "" {
			return fmt.Errorf("--quota %q, want a user and GPUs, as alice=4 or '*=2'", s)
		}
		if o.Quotas == nil {
			o.Quotas = map[string]int{}
		}
		o.Quotas[name] = n
	}
	return nil
}

// traces turns on traces of rounds, if the environment asks for it. The function that it returns
// sends the remaining ones.
func traces(ctx context.Context, o *serve.Options) (flush func(), err error) {
	if !otlp.Wanted(os.Getenv) {
		return func() {}, nil
	}
	p, err := otlp.New(ctx, "oxgang", cli.Version())
	if err != nil {
		return nil, err
	}
	o.Traces = p
	return func() {
		soon, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		if err := p.Shutdown(soon); err != nil {
			fmt.Fprintf(o.Log, "traces: the last are lost: %v\n", err)
		}
	}, nil
}

// prepare sets the options that do not follow directly from flags.
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

// SupervisorCommand is not for people: serve starts it, one for every start of a job.
func SupervisorCommand() *cobra.Command {
	return &cobra.Command{
		Use: "keeper DIR", Hidden: true, Args: cli.OneArg("directory"),
		RunE: func(_ *cobra.Command, args []string) error { return supervisor.Main(args[0]) },
	}
}
