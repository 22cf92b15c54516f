package command

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/policy/registry"
)

type settingRow struct {
	Kind    string `json:"kind"` // policy, setting or placer
	Name    string `json:"name"` // policy.setting for a setting
	Default string `json:"default"`
	Meaning string `json:"meaning"`
}

func policiesCommand() *cobra.Command {
	var format string
	formats := []string{"table", "json", "yaml", "csv"}
	cmd := &cobra.Command{
		Use: "policies", Short: "List the policies, their settings, and the placers", Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cli.CheckOutput(format, formats...); err != nil {
				return err
			}
			if format != "table" {
				return cli.Write(cmd.OutOrStdout(), format, settingRows())
			}
			return policyTable(cmd.OutOrStdout())
		},
	}
	cli.Output(cmd, &format, formats...)
	return cmd
}

func settingRows() []settingRow {
	var all []settingRow
	for _, p := range registry.Policies() {
		all = append(all, settingRow{Kind: "policy", Name: p.Name, Meaning: p.Doc})
		for _, s := range p.Settings {
			all = append(all, settingRow{Kind: "setting", Name: p.Name + "." + s.Name, Default: s.Default, Meaning: s.Doc})
		}
	}
	for _, p := range registry.Placers() {
		all = append(all, settingRow{Kind: "placer", Name: p.Name, Meaning: p.Doc})
	}
	return all
}

func policyTable(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "POLICY\tSETTING\tDEFAULT\tMEANING")
	for _, p := range registry.Policies() {
		fmt.Fprintf(w, "%s\t\t\t%s\n", p.Name, p.Doc)
		for _, s := range p.Settings {
			fmt.Fprintf(w, "\t%s\t%s\t%s\n", s.Name, s.Default, s.Doc)
		}
	}
	fmt.Fprintln(w, "\nPLACER\tMEANING")
	for _, p := range registry.Placers() {
		fmt.Fprintf(w, "%s\t%s\n", p.Name, p.Doc)
	}
	return w.Flush()
}
