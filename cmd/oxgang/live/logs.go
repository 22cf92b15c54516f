package live

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/live/control"
	"github.com/oxgang/oxgang/live/local/statedir"
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

func (l *logWriter) flush() error { return l.print(l.rest) }

func keepFlag(cmd *cobra.Command, texts *[]string) {
	cmd.Flags().StringArrayVar(texts, "keep", nil, "retention of logs, checkpoints, journals or reports, by age and size, such as logs=30d,1GiB; ever for no limit")
}

// parseKeep parses limits such as "logs=30d,1GiB", "journals=2GB" and "checkpoints=ever".
func parseKeep(texts []string) (statedir.Limits, error) {
	all := statedir.Limits{}
	for _, text := range texts {
		category, value, _ := strings.Cut(text, "=")
		l, err := parseLimit(value)
		if err != nil {
			return nil, fmt.Errorf("--keep %q: %w", text, err)
		}
		all[statedir.Category(category)] = l
	}
	if err := all.Validate(); err != nil {
		return nil, fmt.Errorf("--keep: %w", err)
	}
	return all, nil
}

func parseLimit(text string) (statedir.Limit, error) {
	var l statedir.Limit
	if text == "ever" {
		return l, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		age, err := parseAge(part)
		bytes, err2 := ParseBytes(part)
		switch {
		case err == nil && age > 0 && l.Age == 0:
			l.Age = age
		case err != nil && err2 == nil && bytes > 0 && l.Bytes == 0:
			l.Bytes = bytes
		default:
			return l, fmt.Errorf("%q, want an age such as 30d or 12h, a size such as 1GiB, both separated by a comma, or ever", text)
		}
	}
	return l, nil
}

func parseAge(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16) // 179 years
		return time.Duration(n) * 24 * time.Hour, err
	}
	return time.ParseDuration(text)
}
