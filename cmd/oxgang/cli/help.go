package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/oxgang/oxgang/internal/printable"
)

// A FlagGroup is a set of flags that the help prints under one heading.
type FlagGroup struct {
	Heading string
	Flags   []string // names, in order
	// Brief has one-line descriptions by flag; by default the first clause of the full text.
	Brief map[string]string
}

// GroupFlags makes the help of a command short: its first paragraph, and one line for each flag of groups. The added
// flag --help-all prints everything. Call it after the flags and RunE are set.
func GroupFlags(cmd *cobra.Command, groups ...FlagGroup) {
	var all bool
	cmd.Flags().BoolVar(&all, "help-all", false, "show all flags")
	cmd.SetUsageFunc(func(c *cobra.Command) error {
		if all {
			return writeUsage(c, slices.Concat(groups, rest(c.Flags(), groups)))
		}
		return writeBrief(c, groups)
	})
	cmd.SetHelpFunc(func(c *cobra.Command, _ []string) {
		text := c.Long
		if !all {
			text, _, _ = strings.Cut(text, "\n\n")
		}
		fmt.Fprintf(c.OutOrStdout(), "%s\n\n", strings.TrimSpace(text))
		_ = c.Usage() // only fails with the output
	})
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if all {
			return cmd.Help()
		}
		return run(cmd, args)
	}
}

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
			more = append(more, FlagGroup{Heading: "Flags --" + word + "-...", Flags: names})
		}
	}
	slices.SortFunc(more, func(a, b FlagGroup) int { return cmp.Compare(a.Heading, b.Heading) })
	slices.Sort(byWord[""])
	return append([]FlagGroup{{Heading: "Other flags", Flags: byWord[""]}}, more...)
}

func writeUsage(c *cobra.Command, groups []FlagGroup) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Usage:\n  %s\n", c.UseLine())
	if c.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", c.Example)
	}
	for _, g := range groups {
		fmt.Fprintf(&b, "\n%s:\n%s", g.Heading, g.set(c, false).FlagUsagesWrapped(width))
	}
	_, err := io.WriteString(c.OutOrStdout(), b.String())
	return err
}

func writeBrief(c *cobra.Command, groups []FlagGroup) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Usage: %s\n", c.UseLine())
	if c.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", c.Example)
	}
	b.WriteString("\n")
	hidden := 0
	c.Flags().VisitAll(func(*pflag.Flag) { hidden++ })
	for _, g := range groups {
		hidden -= len(g.Flags)
		fmt.Fprintf(&b, "%s:\n%s", g.Heading, printable.Cut(g.set(c, true).FlagUsages(), width))
	}
	fmt.Fprintf(&b, "\n%q shows %d more flags and details.\n", c.CommandPath()+" --help-all", hidden)
	_, err := io.WriteString(c.OutOrStdout(), b.String())
	return err
}

func (g *FlagGroup) set(c *cobra.Command, brief bool) *pflag.FlagSet {
	some := pflag.NewFlagSet("", pflag.ContinueOnError)
	some.SortFlags = false
	for _, name := range g.Flags {
		f := *c.Flags().Lookup(name)
		if brief {
			first, _, _ := strings.Cut(f.Usage, "; ")
			f.Usage = cmp.Or(g.Brief[name], first)
		}
		some.AddFlag(&f)
	}
	return some
}

const width = 100

type setting struct {
	text, typeName string
	adds           bool // repeated uses append
}

func (s *setting) String() string { return s.text }

func (s *setting) Set(text string) error {
	if s.adds && s.text != "" {
		text = s.text + "," + text
	}
	s.text = text
	return nil
}

// Type implements pflag.Value.
func (s *setting) Type() string { return s.typeName }
