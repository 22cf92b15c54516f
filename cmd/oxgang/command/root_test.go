package command

import (
	"slices"
	"testing"

	"github.com/spf13/cobra"
)

// A command that is made alone is the one that is named, without the others; help is of all.
func TestRoot_makes_the_command_that_is_named(t *testing.T) {
	for name := range commands {
		below := root([]string{name, "--help"}).Commands()
		if !slices.ContainsFunc(below, func(c *cobra.Command) bool { return c.Name() == name }) {
			t.Errorf("%s: not among the commands", name)
		}
		for _, c := range below {
			if !slices.Contains([]string{name, "help", "completion"}, c.Name()) {
				t.Errorf("%s: %s is made, too", name, c.Name())
			}
		}
	}
	for _, args := range [][]string{nil, {"--help"}, {"help"}, {"simulates"}, {"__complete"}} {
		if got := len(root(args).Commands()); got < len(commands)+1 {
			t.Errorf("%q: %d commands, want all %d, and manual", args, got, len(commands))
		}
	}
}
