package simulate

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/history"
	"github.com/oxgang/oxgang/simulate/trace/slurm"
)

// A question is one call of oxgang whatif.
type question struct {
	flags  cli.ConfigFlags
	format string
	html   string
	nodes  string // file with what Slurm says of its nodes; empty: none
	slurm  string // file with what Slurm says of its configuration; empty: none
	assume string // file with scenarios; empty: rigid jobs alone
	seeds  int
	price  priceFlags
	quiet  bool
	past   historyFlags
	config *config.Config
	stderr io.Writer

	policies  []string // the alternatives
	scenarios []scenario
	own       ownSettings
}

// whatifFormats are those of the answer.
var whatifFormats = []string{"table", "json", "yaml", "csv"}

// WhatIfCommand returns the command "oxgang whatif".
func WhatIfCommand() *cobra.Command {
	var q question
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
			if q.config, err = q.flags.Load(cmd); err != nil {
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
	f.IntVar(&q.seeds, "seeds", 3, "seeds of scenarios in which chance says which jobs are what")
	f.BoolVarP(&q.quiet, "quiet", "q", false, "no progress")
	q.price.add(f)
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

// alternatives are the policies that are compared with unless --policy names others: first in, first out with backfilling on
// nodes, as most sites run it, and this project's. Policy easy backfills by the GPUs of a type: where jobs cannot be moved it
// lets whole nodes wait for each other.
var alternatives = []string{"multifactor", "oxgang"}

func (q *question) run(ctx context.Context, stdout io.Writer, args []string) error {
	if err := q.prepare(ctx, args); err != nil {
		return err
	}
	if err := q.load(ctx); err != nil {
		return err
	}
	a, err := q.answer(ctx)
	if err != nil {
		return err
	}
	if q.html != "" {
		if err := cli.Whole(q.html, a.page); err != nil {
			return err
		}
		fmt.Fprintf(q.stderr, "page: %s\n", q.html)
	}
	switch q.format {
	case "table":
		return a.table(stdout)
	case "csv":
		return cli.Write(stdout, "csv", a.Rows)
	}
	return cli.Write(stdout, q.format, a)
}

// load reads the history, and what it says of the cluster's own policy.
func (q *question) load(ctx context.Context) error {
	if err := q.past.load(ctx, q.config, history.Options{Workers: true}, q.stderr); err != nil {
		return err
	}
	if err := q.own.learn(q.past.Recorded); err != nil {
		return err
	}
	q.own.asPhilly(q.past.History)
	q.config.Settings = append(slices.Clone(q.own.settings), q.config.Settings...)
	return nil
}

// prepare checks what was asked, and completes the configuration.
func (q *question) prepare(ctx context.Context, args []string) (err error) {
	c := q.config
	if err := cli.CheckOutput(q.format, whatifFormats...); err != nil {
		return err
	}
	if q.seeds < 1 {
		return cli.Misused("seeds %d, want at least 1", q.seeds)
	}
	if err := q.price.check(); err != nil {
		return err
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
	if q.policies = c.Policies; !c.IsSet("policy") {
		q.policies = alternatives
	}
	if q.scenarios, err = readScenarios(q.assume); err != nil {
		return err
	}
	if q.own, err = readOwn(ctx, q.slurm, q.past.slurm); err != nil {
		return err
	}
	c.Sim.FreeStart, q.past.must = true, true
	return slurmNodes(ctx, c, q.nodes)
}

// stamp follows names where the history is not simulated well enough.
func stamp(t *metrics.Trust) string {
	if t.Trusted {
		return ""
	}
	return metrics.Stamp
}
