package command

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/policy/builtin"
)

func policiesCommand() *cobra.Command {
	return &cobra.Command{
		Use: "policies", Short: "List the policies, their settings, and the placers", Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "POLICY\tSETTING\tDEFAULT\tMEANING")
			for _, p := range builtin.Policies() {
				fmt.Fprintf(w, "%s\t\t\t%s\n", p.Name, p.Doc)
				for _, s := range p.Settings {
					fmt.Fprintf(w, "\t%s\t%s\t%s\n", s.Name, s.Default, s.Doc)
				}
			}
			fmt.Fprintln(w, "\nPLACER\tMEANING")
			for _, p := range builtin.Placers() {
				fmt.Fprintf(w, "%s\t%s\n", p.Name, p.Doc)
			}
			return w.Flush()
		},
	}
}
