package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/cmd/oxgang/kube"
	"github.com/oxgang/oxgang/cmd/oxgang/machine"
	"github.com/oxgang/oxgang/cmd/oxgang/simulate"
	"github.com/oxgang/oxgang/cmd/oxgang/slurm"
	"github.com/oxgang/oxgang/cmd/oxgang/study"
)

// root returns the command tree.
func root() *cobra.Command {
	if kube.AsPlugin() {
		return kube.Command()
	}
	cmd := &cobra.Command{
		Use:           "oxgang",
		Short:         "The scheduler that gets the most training out of a GPU cluster",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	cmd.SetFlagErrorFunc(cli.FlagError)
	cmd.AddCommand(
		simulate.Command(), simulate.GymCommand(), simulate.ReportCommand(), simulate.ReproduceCommand(), simulate.ReplayCommand(),
		simulate.LedgerCommand(), simulate.WhatIfCommand(), simulate.ExplainCommand(), simulate.UICommand(),
		machine.ServeCommand(), machine.SupervisorCommand(), machine.TopCommand(), machine.CancelCommand(), machine.LogsCommand(),
		machine.PruneCommand(), machine.BackupCommand(), machine.RestoreCommand(), machine.JobsCommand(), machine.SubmitCommand(),
		study.SweepCommand(), study.ProfileCommand(), study.PlanCommand(), study.CasestudyCommand(), study.LpCommand(),
		kube.Command(), slurm.Command(), traceCommand(), policiesCommand(), cli.ConfigCommand(), versionCommand(), manualCommand(cmd),
	)
	cmd.InitDefaultHelpCmd()
	cmd.InitDefaultCompletionCmd()
	cli.Group(cmd)
	for _, c := range cmd.Commands() {
		switch c.Name() {
		case "completion":
			c.Short = "Write the script that completes commands in a shell"
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

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "oxgang", cli.Version())
			return err
		},
	}
}
