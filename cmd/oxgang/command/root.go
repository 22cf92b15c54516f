package command

import (
	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/cmd/oxgang/lab"
	"github.com/oxgang/oxgang/cmd/oxgang/live"
	"github.com/oxgang/oxgang/cmd/oxgang/simulate"
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
