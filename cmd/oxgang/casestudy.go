package main

import "github.com/spf13/cobra"

// casestudyCommand has one command below it for each case study.
func casestudyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "casestudy",
		Short: "Measure the optimisation engines on problems of production scale",
	}
	cmd.AddCommand(roundsCommand(), shardsCommand(), teCommand())
	group(cmd)
	return cmd
}
