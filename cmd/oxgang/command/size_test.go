package command

import (
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The command line stays one that a person can learn: bounds on its commands, groups among them, and on the
// names of its flags. What is hidden, help and completion do not count.
func TestSize(t *testing.T) {
	const mostCommands, mostFlags = 40, 150
	commands, flags := 0, map[string]bool{}
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) { flags[f.Name] = true })
		for _, below := range c.Commands() {
			if name := below.Name(); below.IsAvailableCommand() && name != "help" && name != "completion" {
				commands++
				walk(below)
			}
		}
	}
	walk(root(nil))
	t.Logf("%d commands, %d flags", commands, len(flags))
	if commands > mostCommands || len(flags) > mostFlags {
		t.Errorf("%d commands with %d flags, want at most %d and %d: settings are keys of the configuration, for --set", commands, len(flags), mostCommands, mostFlags)
	}
}
