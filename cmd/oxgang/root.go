package main

import (
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// root returns the command tree.
func root() *cobra.Command {
	if asPlugin() {
		return kubeCommand()
	}
	cmd := &cobra.Command{
		Use:           "oxgang",
		Short:         "The scheduler that gets the most training out of a GPU cluster",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	cmd.SetFlagErrorFunc(flagError)
	cmd.AddCommand(simulateCommand(), serveCommand(), keeperCommand(), topCommand(), cancelCommand(), logsCommand(), jobsCommand(), submitCommand(), reportCommand(), reproduceCommand(), replayCommand(), traceCommand(), explainCommand(), profileCommand(), planCommand(), policiesCommand(), casestudyCommand(), lpCommand(), kubeCommand(), configCommand(), versionCommand())
	cmd.InitDefaultHelpCmd()
	cmd.InitDefaultCompletionCmd()
	group(cmd)
	for _, c := range cmd.Commands() {
		switch c.Name() {
		case "completion":
			c.Short = "Write the script that completes commands in a shell"
			group(c)
		case "help":
			c.Args = func(_ *cobra.Command, args []string) error {
				if found, rest, err := cmd.Find(args); err != nil || len(rest) > 0 {
					return unknownCommand(found, rest)
				}
				return nil
			}
		}
	}
	return cmd
}

// flagError says where to read about flags.
func flagError(c *cobra.Command, err error) error {
	return usageError{hinted(err, "run %q for usage", c.CommandPath()+" --help")}
}

// group makes a command that only has commands below it show them, and refuse
// any other word.
func group(cmd *cobra.Command) {
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknownCommand(cmd, args)
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
}

// unknownCommand says that below cmd there is no command args[0].
func unknownCommand(cmd *cobra.Command, args []string) error {
	cmd.SuggestionsMinimumDistance = 2
	err := fmt.Errorf("unknown command %q", strings.TrimPrefix(cmd.CommandPath()+" ", "oxgang ")+args[0])
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return usageError{hinted(err, "did you mean %s?", strings.Join(near, " or "))}
	}
	return usageError{hinted(err, "run %q for the commands there are", cmd.CommandPath()+" --help")}
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "oxgang", version())
			return err
		},
	}
}

// version returns the module version and commit this program was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return info.Main.Version + " " + s.Value[:12]
		}
	}
	return info.Main.Version
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return misused("%s takes no argument, got %q", cmd.CommandPath(), args[0])
	}
	return nil
}

// oneArg returns a check that a command has one argument.
func oneArg(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usageError{hinted(fmt.Errorf("%s takes one %s, got %d arguments", cmd.CommandPath(), name, len(args)),
				"run %q for usage", cmd.CommandPath()+" --help")}
		}
		return nil
	}
}
