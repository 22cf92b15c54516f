package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/model/perf/estimate"
	"github.com/oxgang/oxgang/policy/registry"
	"github.com/oxgang/oxgang/simulate/config"
)

// Complete makes the shell suggest names as values of a flag.
func Complete(cmd *cobra.Command, flag string, names []string) {
	completeList(cmd, flag, names, false)
}

// completeList is Complete for a flag that takes a comma-separated list if list is true.
func completeList(cmd *cobra.Command, flag string, names []string, list bool) {
	CompleteLater(cmd, flag, func() []string { return names }, list)
}

// CompleteLater is CompleteList with names that are computed when the user asks for suggestions.
func CompleteLater(cmd *cobra.Command, flag string, names func() []string, list bool) {
	err := cmd.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		before := ""
		if i := strings.LastIndexByte(typed, ','); list && i >= 0 {
			before, typed = typed[:i+1], typed[i+1:]
		}
		var found []string
		for _, name := range names() {
			if strings.HasPrefix(name, typed) {
				found = append(found, before+name)
			}
		}
		return found, cobra.ShellCompDirectiveNoFileComp
	})
	if err != nil {
		panic("completion of an unknown flag: " + flag)
	}
}

// CompleteSettings makes the shell suggest the names of configuration settings.
func CompleteSettings(cmd *cobra.Command) {
	later := func(flag string, names func() []string) { CompleteLater(cmd, flag, names, false) }
	CompleteLater(cmd, "policy", registry.Names, true)
	CompleteLater(cmd, "set", settingsByPolicy, true)
	later("cluster", config.Clusters)
	later("placer", placers)
	later("format", func() []string { return TraceFormats(false) })
	later("on-bad-row", BadRows)
	later("generate-kind", GeneratorNames)
	later("estimate-mode", modes)
}

func placers() []string {
	var names []string
	for _, p := range registry.Placers() {
		names = append(names, p.Name)
	}
	return names
}

func modes() []string {
	var names []string
	for _, m := range []estimate.Mode{estimate.Bootstrap, estimate.NoProf, estimate.Oracle, estimate.PublicCode} {
		names = append(names, m.String())
	}
	return names
}

func settingsByPolicy() []string {
	var names []string
	for _, p := range registry.Policies() {
		for _, s := range p.Settings {
			names = append(names, p.Name+"."+s.Name+"=")
		}
	}
	return names
}

// JobArg returns an error unless the arguments are the word "job" and a name.
func JobArg(cmd *cobra.Command, args []string) error {
	if len(args) != 2 || args[0] != "job" {
		return Misused("%s takes job NAME, got %q", cmd.CommandPath(), args)
	}
	return nil
}

// CompleteJobArg makes the shell suggest "job", and then names from complete, which may be nil.
func CompleteJobArg(complete cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		switch {
		case len(args) == 0:
			return []string{"job"}, cobra.ShellCompDirectiveNoFileComp
		case complete == nil:
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete(cmd, args[1:], typed)
	}
}
