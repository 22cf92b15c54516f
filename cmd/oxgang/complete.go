package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/config"
	"github.com/oxgang/oxgang/perf/estimate"
	"github.com/oxgang/oxgang/policy/builtin"
)

// complete makes shells complete a flag's value from names.
func complete(cmd *cobra.Command, flag string, names []string) {
	completeList(cmd, flag, names, false)
}

// completeList does so for lists by comma, too. The flag must exist.
func completeList(cmd *cobra.Command, flag string, names []string, list bool) {
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

// completeSettings makes shells complete the values of the configuration.
func completeSettings(cmd *cobra.Command) {
	var placers, modes []string
	for _, m := range []estimate.Mode{estimate.Bootstrap, estimate.NoProf, estimate.Oracle, estimate.PublicCode} {
		modes = append(modes, m.String())
	}
	for _, p := range builtin.Placers() {
		placers = append(placers, p.Name)
	}
	complete(cmd, "cluster", config.Clusters())
	completeList(cmd, "policy", builtin.Names(), true)
	completeList(cmd, "set", settingsByPolicy(), true)
	complete(cmd, "placer", placers)
	complete(cmd, "format", traceFormats(false))
	complete(cmd, "on-bad-row", badRows())
	complete(cmd, "generate-kind", kindNames())
	complete(cmd, "estimate-mode", modes)
	complete(cmd, "lender-forecast", config.Forecasts())
	complete(cmd, "fairness-rho", config.Rhos()[1:])
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
