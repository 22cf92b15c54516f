package simulate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/simulate/history"
	"github.com/oxgang/oxgang/simulate/trace/slurm"
	"github.com/oxgang/oxgang/simulate/whatif/alternatives"
)

// whatIf is one call of oxgang whatif.
type whatIf struct {
	alternatives.Question
	flags         cli.ConfigFlags
	past          historyFlags
	format        string
	html          string
	nodes         string // file with what Slurm says of its nodes; empty: none
	slurm         string // file with what Slurm says of its configuration; empty: none
	assume        string // file with scenarios; empty: rigid jobs alone
	price, source string
	quiet         bool
	stderr        io.Writer
}

// whatifFormats are those of the answer.
var whatifFormats = []string{"table", "json", "yaml", "csv"}

// WhatIfCommand returns the command "oxgang whatif".
func WhatIfCommand() *cobra.Command {
	var q whatIf
	cmd := &cobra.Command{
		Use:   "whatif [HISTORY]",
		Short: "Say what your own history would have been under other policies, or with fewer GPUs",
		Long: `Read what a cluster did with its jobs, replay it under the cluster's own policy, and then
under others. It says first how near the replay comes to what was recorded: where a figure is more
than 5 % off, all others are stamped. HISTORY is what sacct prints, a dump of Kubernetes, or the log of
Philly or Helios; --from-slurm and --from-cluster ask the cluster. Jobs run as they were recorded to have run; what is assumed
beyond that is a scenario, rigid jobs unless --assume names others.`,
		Example: `  oxgang whatif history.txt --slurm-nodes nodes.txt --slurm-config config.txt
  oxgang whatif --from-slurm --gpu-price "2.50 EUR" --price-source "contract of 2026"
  oxgang whatif history.txt --assume scenarios.yaml -o json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if q.Config, err = q.flags.Load(cmd); err != nil {
				return err
			}
			q.stderr = cmd.ErrOrStderr()
			return q.run(cmd.Context(), cmd.OutOrStdout(), args)
		},
	}
	q.flags.Add(cmd.Flags())
	cli.CompleteSettings(cmd)
	f := cmd.Flags()
	q.past.add(f)
	f.Lookup("baseline").DefValue = ""
	q.past.baseline = ""
	f.Lookup("baseline").Usage = "the policy that stands for the cluster's own scheduler; empty: multifactor for Slurm and Helios, kueue where the history has its queues, fifo that lets pass who fits for Philly, easy for others"
	cli.Output(cmd, &q.format, whatifFormats...)
	f.StringVar(&q.html, "report", "oxgang-whatif.html", "HTML page to write, to hand on; empty: none")
	f.StringVar(&q.nodes, "slurm-nodes", "", "file with the nodes, in place of --cluster, as printed by "+slurm.NodesCommand+`, or sinfo -o "%D %G"`)
	f.StringVar(&q.slurm, "slurm-config", "", "file with Slurm's weights and limits of backfilling, as printed by "+slurm.ConfigCommand)
	f.StringVar(&q.assume, "assume", "", "YAML file of scenarios: what is assumed of the jobs' scaling")
	f.IntVar(&q.Seeds, "seeds", 3, "seeds of scenarios in which chance says which jobs are what")
	f.BoolVarP(&q.quiet, "quiet", "q", false, "no progress")
	f.StringVar(&q.price, "gpu-price", "", `what a GPU-hour costs, with its currency: "2.50 EUR"`)
	f.StringVar(&q.source, "price-source", "", "where that price is from; it stands beside every sum")
	cli.GroupFlags(cmd, whatifGroups...)
	return cmd
}

// whatifGroups are the flags that people use first.
var whatifGroups = []cli.FlagGroup{
	{Heading: "Which history", Flags: []string{"from-slurm", "from-cluster", "since", "zone"}},
	{Heading: "On which GPUs", Flags: []string{"cluster", "slurm-nodes"}},
	{Heading: "Under which policies", Flags: []string{"baseline", "slurm-config", "policy", "set"}},
	{Heading: "What is assumed", Flags: []string{"assume", "seeds", "gpu-price", "price-source"}},
	{Heading: "What is written", Flags: []string{"output", "report", "quiet"}},
	{Heading: "Help and configuration", Flags: []string{"config", "help", "help-all"}},
}

func (q *whatIf) run(ctx context.Context, stdout io.Writer, args []string) error {
	if err := q.prepare(ctx, args); err != nil {
		return err
	}
	if err := q.load(ctx); err != nil {
		return err
	}
	a, err := q.Answer(ctx)
	if err != nil {
		return err
	}
	if q.html != "" {
		if err := cli.Whole(q.html, a.Page); err != nil {
			return err
		}
		fmt.Fprintf(q.stderr, "page: %s\n", q.html)
	}
	switch q.format {
	case "table":
		return a.Table(stdout)
	case "csv":
		return cli.Write(stdout, "csv", a.Rows)
	}
	return cli.Write(stdout, q.format, a)
}

// prepare checks what was asked, and completes the configuration.
func (q *whatIf) prepare(ctx context.Context, args []string) (err error) {
	c := q.Config
	if err := cli.CheckOutput(q.format, whatifFormats...); err != nil {
		return err
	}
	if q.Seeds < 1 {
		return cli.Misused("seeds %d, want at least 1", q.Seeds)
	}
	if q.Price, err = alternatives.ParsePrice(q.price, q.source); err != nil {
		return cli.Usage(err)
	}
	if len(args) > 0 {
		if c.IsSet("trace") {
			return cli.Misused("%s and --trace, want one of them", args[0])
		}
		if err := c.Set("trace", args[0], "argument"); err != nil {
			return err
		}
	}
	if c.Trace == "" && !q.past.slurm && !q.past.from {
		return cli.Hinted(cli.Misused("no history, want a file, --from-slurm or --from-cluster"), "this prints one: "+slurm.Export)
	}
	if q.Policies = c.Policies; !c.IsSet("policy") {
		q.Policies = alternatives.Defaults
	}
	if q.Scenarios, err = readScenarios(q.assume); err != nil {
		return err
	}
	if q.Own, err = readOwn(ctx, q.slurm, q.past.slurm); err != nil {
		return err
	}
	if q.past.must = true; !q.quiet {
		q.Progress = q.stderr
	}
	c.Sim.FreeStart = true
	return slurmNodes(ctx, c, q.nodes)
}

// load reads the history, and what it says of the cluster's own policy.
func (q *whatIf) load(ctx context.Context) error {
	if err := q.past.load(ctx, q.Config, history.Options{Workers: true}, q.stderr); err != nil {
		return err
	}
	q.History, q.Files = q.past.History, q.past.files(ctx)
	return q.Own.Learn(q.History, q.Config)
}

// readScenarios reads a file of scenarios; without a name, it returns the scenario that assumes least.
func readScenarios(name string) ([]alternatives.Scenario, error) {
	if name == "" {
		return []alternatives.Scenario{alternatives.Rigid}, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all, err := alternatives.ReadScenarios(f, name)
	if errors.Is(err, alternatives.ErrNoScenarios) {
		return nil, cli.Hinted(err, "scenarios: [{name: checkpoints, preempt: true, restart: 60s}]")
	}
	return all, err
}

// readOwn reads Slurm's configuration, from a file or, if ask, from scontrol.
func readOwn(ctx context.Context, file string, ask bool) (own alternatives.OwnPolicy, err error) {
	var r io.Reader
	switch {
	case file != "":
		f, err := cli.Open(ctx, file)
		if err != nil {
			return own, err
		}
		defer f.Close()
		r = f
	case ask:
		name, args, _ := strings.Cut(slurm.ConfigCommand, " ")
		text, err := slurmOutput(ctx, name, strings.Fields(args)...)
		if err != nil {
			return own, err
		}
		file, r = slurm.ConfigCommand, bytes.NewReader(text)
	default:
		return own, nil
	}
	settings, err := slurm.ReadSettings(r, file)
	if err != nil {
		return own, err
	}
	return alternatives.WithSlurm(settings), nil
}
