package command

import (
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
)

func manualCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Hidden: true, // for packagers
		Use:    "manual DIRECTORY", Short: "Write manual pages of all commands",
		Long: `Write a manual page of every command, for man(1), into a directory. It is created if missing.`,
		Example: `  oxgang manual ~/.local/share/man/man1
  man oxgang-simulate`,
		Args: cli.OneArg("DIRECTORY"),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return fmt.Errorf("manual pages: %w", err)
			}
			h := &doc.GenManHeader{Section: "1", Source: "oxgang " + cli.Version(), Manual: "Oxgang", Date: built()}
			root.DisableAutoGenTag = true // it would contain today's date
			if err := doc.GenManTree(root, h, args[0]); err != nil {
				return fmt.Errorf("manual pages: %w", err)
			}
			return nil
		},
	}
}

func built() *time.Time {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	for _, s := range info.Settings {
		if at, err := time.Parse(time.RFC3339, s.Value); s.Key == "vcs.time" && err == nil {
			return &at
		}
	}
	return nil
}
