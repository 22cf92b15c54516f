package cli

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/policy/registry"
	"github.com/oxgang/oxgang/simulate/config"
)

func meant(err error) string {
	name, known := choices(err.Error())
	if unknown, ok := errors.AsType[*registry.UnknownError](err); ok {
		name, known = unknown.Name, unknown.Known
	}
	if like := printable.Meant(name, known); len(like) > 0 {
		return "did you mean " + strings.Join(like, " or ") + "?"
	}
	return ""
}

var wants = regexp.MustCompile(`"([^"\s]+)"(?: is not known)?, want (?:one of |a preset \()?([^()]+)`)

var between = regexp.MustCompile(`,? or |, `)

func choices(message string) (name string, known []string) {
	all := wants.FindAllStringSubmatch(message, -1)
	if len(all) == 0 {
		return "", nil
	}
	last := all[len(all)-1]
	return last[1], slices.DeleteFunc(between.Split(strings.TrimSpace(last[2]), -1), func(word string) bool { return word == "" || strings.Contains(word, " ") })
}

// FlagError adds a hint to an error about flags.
func FlagError(c *cobra.Command, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		if i := slices.IndexFunc(config.Keys(), func(k config.Key) bool { return k.Option() == unknown.GetSpecifiedName() }); i >= 0 && c.Flags().Lookup("set") != nil {
			return UsageError{Hinted(err, "want --set %s=VALUE", config.Keys()[i].Name)}
		}
		var all []string
		c.Flags().VisitAll(func(f *pflag.Flag) { all = append(all, f.Name) })
		if like := printable.Meant(unknown.GetSpecifiedName(), all); len(like) > 0 {
			return UsageError{Hinted(err, "did you mean --%s?", strings.Join(like, " or --"))}
		}
	}
	return UsageError{Hinted(err, "run %q for usage", c.CommandPath()+" --help")}
}

// UnknownCommand returns an error that states that there is no such subcommand, and suggests similar ones.
func UnknownCommand(cmd *cobra.Command, args []string) error {
	err := fmt.Errorf("unknown command %q", strings.TrimPrefix(cmd.CommandPath()+" ", "oxgang ")+args[0])
	if like := likely(cmd, args[0]); len(like) > 0 {
		return UsageError{Hinted(err, "did you mean %s?", strings.Join(like, " or "))}
	}
	return UsageError{Hinted(err, "run %q for a list of commands", cmd.CommandPath()+" --help")}
}

func likely(cmd *cobra.Command, word string) []string {
	var all, names []string
	for _, sub := range cmd.Commands() {
		if !sub.IsAvailableCommand() {
			continue
		}
		names = append(names, sub.Name())
		if strings.HasPrefix(sub.Name(), word) || slices.Contains(sub.SuggestFor, word) {
			all = append(all, sub.Name())
		}
		for _, below := range sub.Commands() {
			if below.Name() == word && below.IsAvailableCommand() {
				all = append(all, sub.Name()+" "+word)
			}
		}
	}
	all = append(all, printable.Meant(word, names)...)
	slices.Sort(all)
	return slices.Compact(all)
}
