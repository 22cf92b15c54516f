package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/simulate/trace/parse"
)

// PrintError prints an error on one line, and a hint on another. For a table of unknown format, it also prints a
// mapping file as a starting point.
func PrintError(w io.Writer, err error) {
	message, hint, _ := strings.Cut(err.Error(), hintMark)
	hint = cmp.Or(hint, meant(err))
	oneLine := strings.NewReplacer("\r", " ", "\n", "; ")
	fmt.Fprintln(w, "error: "+printable.Line(oneLine.Replace(once(strings.TrimSpace(message)))))
	if hint != "" {
		fmt.Fprintln(w, "hint: "+printable.Line(oneLine.Replace(hint)))
	}
	if e, ok := errors.AsType[*parse.Error](err); ok && e.Mapping != "" {
		printMapping(w, e.Mapping)
	}
}

// once removes a file's name in front of a message that begins with it: "none: open none: no such file".
func once(message string) string {
	name, rest, found := strings.Cut(message, ": ")
	if found && (strings.HasPrefix(rest, name+":") || strings.HasPrefix(rest, "open "+name+":")) {
		return rest
	}
	return message
}

func printMapping(w io.Writer, mapping string) {
	fmt.Fprint(w, "hint: a table of jobs can be read with a mapping of its columns: save the lines below, correct them, and add --mapping FILE\n\n")
	for line := range strings.Lines(mapping) {
		fmt.Fprintln(w, printable.Line(strings.TrimSuffix(line, "\n")))
	}
}

const hintMark = "\nhint: "

// Hinted adds to err a hint on what the user can do.
func Hinted(err error, format string, args ...any) error {
	return fmt.Errorf("%w"+hintMark+"%s", err, fmt.Sprintf(format, args...))
}

// A StatusError is an exit status that is the result of a command. The program exits with it and prints no error.
type StatusError int

// Error implements error.
func (e StatusError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// A UsageError reports a wrong command line.
type UsageError struct{ error }

func (e UsageError) Unwrap() error { return e.error }

// Usage turns an error into a UsageError.
func Usage(err error) error { return UsageError{err} }

// Misused returns a UsageError with a formatted text.
func Misused(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// Group makes a command print its subcommands and reject arguments.
func Group(cmd *cobra.Command) {
	cmd.Args = NoCommand
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
}

// NoCommand returns an error for arguments, which would be unknown subcommands of cmd.
func NoCommand(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return UnknownCommand(cmd, args)
	}
	return nil
}

// Renamed returns a hidden command called old, which fails with an error that states the new name, renamed.
func Renamed(old, renamed string) *cobra.Command {
	return &cobra.Command{Use: old, Hidden: true, DisableFlagParsing: true, RunE: func(cmd *cobra.Command, _ []string) error {
		return UsageError{Hinted(fmt.Errorf("%q has a new name", cmd.CommandPath()), "use %q", "oxgang "+renamed)}
	}}
}

var release string

// Version returns the module version and commit of this program.
func Version() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return info.Main.Version + " " + s.Value[:12]
		}
	}
	return info.Main.Version
}

// NoArgs returns an error if a command has arguments.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return Misused("%s takes no arguments, got %q", cmd.CommandPath(), args[0])
	}
	return nil
}

// OneArg returns a check that a command has exactly one argument, called name.
func OneArg(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return UsageError{Hinted(fmt.Errorf("%s needs exactly one %s, got %d arguments", cmd.CommandPath(), name, len(args)),
				"run %q for usage", cmd.CommandPath()+" --help")}
		}
		return nil
	}
}
