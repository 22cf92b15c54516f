package live

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/live/control"
	"github.com/oxgang/oxgang/model/job"
)

// LogsCommand returns the command "oxgang logs".
func LogsCommand() *cobra.Command {
	var (
		s      liveState
		follow bool
		lines  int
	)
	cmd := &cobra.Command{
		SuggestFor: []string{"log", "tail", "output"},
		Use:        "logs NAME", Short: "Show the output of a job", Args: cli.OneArg("NAME"),
		Long: `Show the last lines that the workers of a job printed, over all its starts. Lines of ranks
other than 0 begin with [rank N]. On a terminal, characters that would control it are escaped.`,
		Example: `  oxgang logs mnist-2
  oxgang logs mnist-2 -f -n 1000`,
	}
	cmd.RunE = s.asking(func(cmd *cobra.Command, c *control.Client, args []string) error {
		if lines < 0 {
			return cli.Misused("--lines %d, want at least 0", lines)
		}
		out := &logWriter{w: cmd.OutOrStdout(), escape: cli.Terminal(cmd.OutOrStdout())}
		err := errors.Join(c.Log(cmd.Context(), job.ID(args[0]), lines, follow, out), out.flush())
		if follow && cmd.Context().Err() != nil {
			return nil //nolint:nilerr // that is how one stops to follow
		}
		return err
	})
	s.add(cmd)
	f := cmd.Flags()
	f.BoolVarP(&follow, "follow", "f", false, "follow the output until the job ends or Ctrl-C")
	f.IntVarP(&lines, "lines", "n", 50, "number of last lines")
	s.completeJobs(cmd, true, 1)
	return cmd
}

// A logWriter escapes what would control a terminal. A carriage return begins a new line.
type logWriter struct {
	w      io.Writer
	escape bool
	rest   []byte // incomplete character
}

func (l *logWriter) Write(p []byte) (int, error) {
	if !l.escape {
		return l.w.Write(p)
	}
	text := slices.Concat(l.rest, p)
	end := len(text)
	for i := max(0, end-utf8.UTFMax+1); i < end; i++ {
		if utf8.RuneStart(text[i]) && !utf8.FullRune(text[i:]) {
			end = i
		}
	}
	l.rest = bytes.Clone(text[end:])
	return len(p), l.print(text[:end])
}

func (l *logWriter) print(text []byte) error {
	text = bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
	_, err := io.WriteString(l.w, printable.Text(string(text)))
	return err
}

// flush writes an incomplete character at the end of the log.
func (l *logWriter) flush() error { return l.print(l.rest) }
