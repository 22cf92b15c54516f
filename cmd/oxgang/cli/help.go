package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A FlagGroup is a set of flags under a heading.
type FlagGroup struct {
	Heading string
	Flags   []string // names, in order
}

// GroupFlags shows only the flags of groups in the help of a command, and adds --help-all for all flags. Call it
// after the flags and RunE are set.
func GroupFlags(cmd *cobra.Command, groups ...FlagGroup) {
	var all bool
	cmd.Flags().BoolVar(&all, "help-all", false, "show all flags")
	cmd.SetUsageFunc(func(c *cobra.Command) error {
		shown := groups
		if all {
			shown = slices.Concat(groups, rest(c.Flags(), groups))
		}
		return writeUsage(c, shown, all)
	})
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if all {
			return cmd.Help()
		}
		return run(cmd, args)
	}
}

// rest returns the flags outside of groups, grouped by the first word of their names. Flags of one word come first.
func rest(f *pflag.FlagSet, groups []FlagGroup) []FlagGroup {
	named := make(map[string]bool)
	for _, g := range groups {
		for _, name := range g.Flags {
			named[name] = true
		}
	}
	byWord := make(map[string][]string)
	f.VisitAll(func(f *pflag.Flag) {
		if word, _, several := strings.Cut(f.Name, "-"); !named[f.Name] && !f.Hidden {
			if !several {
				word = ""
			}
			byWord[word] = append(byWord[word], f.Name)
		}
	})
	var more []FlagGroup
	for word, names := range byWord {
		if len(names) == 1 && word != "" {
			byWord[""] = append(byWord[""], names...)
			continue
		}
		if word != "" {
			more = append(more, FlagGroup{"Flags --" + word + "-...", names})
		}
	}
	slices.SortFunc(more, func(a, b FlagGroup) int { return cmp.Compare(a.Heading, b.Heading) })
	slices.Sort(byWord[""])
	return append([]FlagGroup{{"Other flags", byWord[""]}}, more...)
}

// writeUsage writes the usage of a command, with the flags of groups.
func writeUsage(c *cobra.Command, groups []FlagGroup, all bool) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Usage:\n  %s\n", c.UseLine())
	if c.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", c.Example)
	}
	shown := 0
	for _, g := range groups {
		some := pflag.NewFlagSet("", pflag.ContinueOnError)
		some.SortFlags = false
		for _, name := range g.Flags {
			if f := c.Flags().Lookup(name); f != nil {
				some.AddFlag(f)
				shown++
			}
		}
		fmt.Fprintf(&b, "\n%s:\n%s", g.Heading, some.FlagUsagesWrapped(width))
	}
	if !all {
		left := 0
		c.Flags().VisitAll(func(*pflag.Flag) { left++ })
		fmt.Fprintf(&b, "\n%q shows %d more flags.\n", c.CommandPath()+" --help-all", left-shown)
	}
	_, err := io.WriteString(c.OutOrStdout(), b.String())
	return err
}

// width is the line length of help.
const width = 100

// A setting is the value of a flag for the configuration.
type setting struct {
	text, typeName string
	adds           bool // repeated uses append
}

// String implements pflag.Value.
func (s *setting) String() string { return s.text }

// Set implements pflag.Value.
func (s *setting) Set(text string) error {
	if s.adds && s.text != "" {
		text = s.text + "," + text
	}
	s.text = text
	return nil
}

// Type implements pflag.Value. Help shows it as the type of the flag.
func (s *setting) Type() string { return s.typeName }
