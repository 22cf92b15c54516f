// Package command is the command line of oxgang as a function, for programs that add their own policies.
package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"time"
	_ "time/tzdata" // --zone needs it on some machines

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/cmd/oxgang/lab"
	"github.com/oxgang/oxgang/cmd/oxgang/live"
	"github.com/oxgang/oxgang/cmd/oxgang/simulate"
	"github.com/oxgang/oxgang/lab/rules"
	"github.com/oxgang/oxgang/policy/registry"
)

// commands are created on demand: creating all takes longer than running some.
var commands = map[string]func() *cobra.Command{
	"simulate": simulate.Command,
	"report":   simulate.ReportCommand,
	"replay":   func() *cobra.Command { return cli.Renamed("replay", "whatif JOURNAL") },
	"ledger":   simulate.LedgerCommand,
	"whatif":   simulate.WhatIfCommand,
	"explain":  simulate.ExplainCommand,
	"try":      simulate.TryCommand,
	"ui":       simulate.UICommand,
	"serve":    live.ServeCommand,
	"keeper":   live.SupervisorCommand,
	"top":      live.TopCommand,
	"cancel":   live.CancelCommand,
	"logs":     live.LogsCommand,
	"prune":    live.PruneCommand,
	"backup":   live.BackupCommand,
	"jobs":     live.JobsCommand,
	"submit":   live.SubmitCommand,
	"plan":     simulate.PlanCommand,
	"lab":      lab.Command,
	"kubectl":  live.KubectlCommand,
	"slurm":    live.SlurmCommand,
	"trace":    traceCommand,
	"policies": policiesCommand,
	"config":   cli.ConfigCommand,
}

func root(args []string) *cobra.Command {
	if live.AsKubectlPlugin() {
		return live.KubectlCommand()
	}
	cmd := &cobra.Command{
		Use:           "oxgang",
		Short:         "The scheduler that gets the most training out of a GPU cluster",
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       cli.Version(),
	}
	cmd.SetVersionTemplate("oxgang {{.Version}}\n")
	cmd.SetFlagErrorFunc(cli.FlagError)
	if len(args) > 0 && commands[args[0]] != nil {
		cmd.AddCommand(commands[args[0]]())
	} else {
		for _, command := range commands {
			cmd.AddCommand(command())
		}
		cmd.AddCommand(manualCommand(cmd))
	}
	group(cmd)
	cmd.InitDefaultHelpCmd()
	cmd.InitDefaultCompletionCmd()
	cli.Group(cmd)
	for _, c := range cmd.Commands() {
		switch c.Name() {
		case "completion":
			c.Short = "Print a shell completion script"
			cli.Group(c)
		case "help":
			c.Args = func(_ *cobra.Command, args []string) error {
				if found, rest, err := cmd.Find(args); err != nil || len(rest) > 0 {
					return cli.UnknownCommand(found, rest)
				}
				return nil
			}
		}
	}
	return cmd
}

var groups = []struct {
	title string
	names []string
}{
	{"Simulate, and analyse recorded runs:", []string{"simulate", "whatif", "explain", "try", "report", "ledger", "plan", "lab"}},
	{"Training on this machine:", []string{"serve", "submit", "jobs", "logs", "cancel", "top", "ui", "backup", "prune"}},
	{"Clusters:", []string{"kubectl", "slurm"}},
	{"Traces and policies:", []string{"trace", "policies"}},
	{"Settings and help:", []string{"config", "help", "completion", "manual"}},
}

func group(cmd *cobra.Command) {
	for i := range groups {
		g := &groups[i]
		cmd.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, c := range cmd.Commands() {
			if slices.Contains(g.names, c.Name()) {
				c.GroupID = g.title
			}
		}
	}
	cmd.SetHelpCommandGroupID(groups[len(groups)-1].title)
	cmd.SetCompletionCommandGroupID(groups[len(groups)-1].title)
}

// Main runs the command line of this process, once. policies extend the built-in ones. It returns the exit status: 0
// for success, 1 for failure, 2 for wrong usage or an invalid policy, or a status of "oxgang try".
func Main(policies ...registry.Entry) int {
	collect(collectLess)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	err := run(ctx, policies)
	if err == nil {
		return 0
	}
	if status := cli.StatusError(0); errors.As(err, &status) {
		return int(status)
	}
	cli.PrintError(os.Stderr, err)
	if errors.As(err, new(cli.UsageError)) {
		return 2
	}
	return 1
}

func run(ctx context.Context, policies []registry.Entry) error {
	rules.Register()
	for i := range policies {
		if err := registry.Register(&policies[i]); err != nil {
			return cli.Usage(err)
		}
	}
	return root(os.Args[1:]).ExecuteContext(ctx)
}

func manualCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Hidden: true, // for packagers
		Use:    "manual DIRECTORY", Short: "Write manual pages of all commands",
		Long: `Write a manual page of every command, for man(1), into a directory. It is created if missing.`,
		Example: `  oxgang manual ~/.local/share/man/man1
  man oxgang-simulate`,
		Args: cli.OneArg("DIRECTORY"),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return fmt.Errorf("manual pages: %w", err)
			}
			h := &doc.GenManHeader{Section: "1", Source: "oxgang " + cli.Version(), Manual: "Oxgang", Date: built()}
			root.DisableAutoGenTag = true // it would contain today's date
			if err := doc.GenManTree(root, h, args[0]); err != nil {
				return fmt.Errorf("manual pages: %w", err)
			}
			return nil
		},
	}
}

func built() *time.Time {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	for _, s := range info.Settings {
		if at, err := time.Parse(time.RFC3339, s.Value); s.Key == "vcs.time" && err == nil {
			return &at
		}
	}
	return nil
}
