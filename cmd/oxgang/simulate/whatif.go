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
)

type whatIf struct {
	history.Question
	flags         cli.ConfigFlags
	past          historyFlags
	format        string
	html          string
	nodes         string
	slurm         string
	assume        string // empty: only the rigid scenario
	price, source string
	quiet         bool
	journal       replaying
	stderr        io.Writer
}

var whatifFormats = []string{"table", "json", "yaml", "csv"}

// WhatIfCommand returns the command "oxgang whatif".
func WhatIfCommand() *cobra.Command {
	var q whatIf
	cmd := &cobra.Command{
		Use:   "whatif [HISTORY]",
		Short: "Replay your cluster's history under other policies, with an accuracy check",
		Long: `Replay a cluster's recorded history under its own policy and under others. First, the replay under
its own policy is compared with the recording: if a figure is more than 5 % off, all results are
marked as untrusted.

HISTORY is the output of sacct, a dump of Kubernetes, or the log of Philly or
Helios; --from-slurm and --from-cluster read it from the cluster. Jobs run as recorded. Further
assumptions are scenarios: rigid jobs, or the scenarios in the file of --assume.

If HISTORY is a journal of Oxgang (.oxj), it is checked twice. First, its events are replayed: the
policy must make the recorded decisions (allocations, placements, batch sizes, reasons, prices and
actions). The first difference is reported as an error. Second, the run is simulated with what it
learned of its jobs, under its own policy and the one of --policy, and the ends of jobs are compared.`,
		Example: `  oxgang whatif history.txt --slurm-nodes nodes.txt --slurm-config config.txt
  oxgang whatif --from-slurm --gpu-price "2.50 EUR" --price-source "contract of 2026"
  oxgang whatif history.txt --assume scenarios.yaml -o json
  oxgang whatif run/sia.oxj --policy fifo`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if isJournal(args) {
				q.journal.format = q.format
				return q.journal.replay(cmd, args[0])
			}
			if q.journal.actions || q.journal.etas {
				return cli.Misused("--actions and --etas need a journal (.oxj)")
			}
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
	f.Lookup("baseline").Usage = "policy in place of the cluster's own scheduler; default: multifactor for Slurm and Helios, kueue for histories with its queues, fifo with backfilling for Philly, easy for others"
	cli.Output(cmd, &q.format, whatifFormats...)
	f.StringVar(&q.html, "report", "oxgang-whatif.html", "HTML page; empty: none")
	f.StringVar(&q.nodes, "slurm-nodes", "", "file with the nodes, instead of --cluster: output of "+slurm.NodesCommand+` or sinfo -o "%D %G"`)
	f.StringVar(&q.slurm, "slurm-config", "", "file with Slurm's weights and backfilling limits: output of "+slurm.ConfigCommand)
	f.StringVar(&q.assume, "assume", "", "YAML file of scenarios: assumptions about the scaling of jobs")
	f.IntVar(&q.Seeds, "seeds", 3, "number of seeds of scenarios that choose jobs at random")
	f.BoolVarP(&q.quiet, "quiet", "q", false, "show no progress")
	f.StringVar(&q.price, "gpu-price", "", `price of a GPU-hour, with currency: "2.50 EUR"`)
	f.StringVar(&q.source, "price-source", "", "source of the price, printed with each amount")
	f.BoolVar(&q.journal.actions, "actions", false, "journals: compare only actions, for recordings by another version with other reasons")
	f.BoolVar(&q.journal.etas, "etas", false, "journals: test the predicted ranges of starts and ends")
	cli.GroupFlags(cmd, whatifGroups...)
	return cmd
}

var whatifGroups = []cli.FlagGroup{
	{Heading: "History", Flags: []string{"from-slurm", "from-cluster", "since", "zone"}, Brief: map[string]string{
		"from-slurm":   "replay the jobs of your Slurm cluster (30 days, or --since)",
		"from-cluster": "replay the jobs of your Kubernetes cluster",
		"zone":         "time zone of Slurm's local times",
	}},
	{Heading: "GPUs", Flags: []string{"cluster", "slurm-nodes"}, Brief: groups[1].Brief},
	{Heading: "Policies", Flags: []string{"baseline", "slurm-config", "policy", "set"}, Brief: groups[2].Brief},
	{Heading: "Assumptions", Flags: []string{"assume", "seeds", "gpu-price", "price-source"}},
	{Heading: "Journals", Flags: []string{"actions", "etas"}},
	{Heading: "Output", Flags: []string{"output", "report", "quiet"}},
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

func (q *whatIf) prepare(ctx context.Context, args []string) (err error) {
	c := q.Config
	if err := cli.CheckOutput(q.format, whatifFormats...); err != nil {
		return err
	}
	if q.Seeds < 1 {
		return cli.Misused("seeds %d, want at least 1", q.Seeds)
	}
	if q.Price, err = history.ParsePrice(q.price, q.source); err != nil {
		return cli.Usage(err)
	}
	if len(args) > 0 {
		if c.IsSet("trace") {
			return cli.Misused("use either %s or --trace", args[0])
		}
		if err := c.Set("trace", args[0], "argument"); err != nil {
			return err
		}
	}
	if c.Trace == "" && !q.past.slurm && !q.past.from {
		return cli.Hinted(cli.Misused("no history: use a file, --from-slurm or --from-cluster"), "export one with: "+slurm.Export)
	}
	if q.Policies = c.Policies; !c.IsSet("policy") {
		q.Policies = history.Defaults
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
	return slurmNodes(ctx, c, q.nodes, q.stderr)
}

func (q *whatIf) load(ctx context.Context) error {
	if err := q.past.load(ctx, q.Config, history.Options{Workers: true}, q.stderr); err != nil {
		return err
	}
	q.History, q.Files = q.past.History, q.past.files(ctx)
	return q.Own.Learn(q.History, q.Config)
}

func readScenarios(name string) ([]history.Scenario, error) {
	if name == "" {
		return []history.Scenario{history.Rigid}, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all, err := history.ReadScenarios(f, name)
	if errors.Is(err, history.ErrNoScenarios) {
		return nil, cli.Hinted(err, "scenarios: [{name: checkpoints, preempt: true, restart: 60s}]")
	}
	return all, err
}

func readOwn(ctx context.Context, file string, ask bool) (own history.OwnPolicy, err error) {
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
	return history.WithSlurm(settings), nil
}
