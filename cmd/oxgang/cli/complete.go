package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/config"
	"github.com/oxgang/oxgang/perf/estimate"
	"github.com/oxgang/oxgang/policy/builtin"
)

// Complete makes shells complete a flag's value from names.
func Complete(cmd *cobra.Command, flag string, names []string) {
	CompleteList(cmd, flag, names, false)
}

// CompleteList is Complete; if list is true, values are lists separated by commas. The flag must
// exist.
func CompleteList(cmd *cobra.Command, flag string, names []string, list bool) {
	err := cmd.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		before := ""
		if i := strings.LastIndexByte(typed, ','); list && i >= 0 {
			before, typed = typed[:i+1], typed[i+1:]
		}
		var found []string
		for _, name := range names {
			if strings.HasPrefix(name, typed) {
				found = append(found, before+name)
			}
		}
		return found, cobra.ShellCompDirectiveNoFileComp
	})
	if err != nil {
		panic("completion of a flag that does not exist: " + flag)
	}
}

// CompleteSettings makes shells complete the values of the configuration.
func CompleteSettings(cmd *cobra.Command) {
	var placers, modes []string
	for _, m := range []estimate.Mode{estimate.Bootstrap, estimate.NoProf, estimate.Oracle, estimate.PublicCode} {
		modes = append(modes, m.String())
	}
	for _, p := range builtin.Placers() {
		placers = append(placers, p.Name)
	}
	Complete(cmd, "cluster", config.Clusters())
	CompleteList(cmd, "policy", builtin.Names(), true)
	CompleteList(cmd, "set", settingsByPolicy(), true)
	Complete(cmd, "placer", placers)
	Complete(cmd, "format", TraceFormats(false))
	Complete(cmd, "on-bad-row", BadRows())
	Complete(cmd, "generate-kind", GeneratorNames())
	Complete(cmd, "estimate-mode", modes)
	Complete(cmd, "lender-forecast", config.Forecasts())
	Complete(cmd, "fairness-rho", config.Rhos()[1:])
}

func settingsByPolicy() []string {
	var names []string
	for _, p := range builtin.Policies() {
		for _, s := range p.Settings {
			names = append(names, p.Name+"."+s.Name+"=")
		}
	}
	return names
}
