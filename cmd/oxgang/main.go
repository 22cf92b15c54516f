// Oxgang schedules training jobs on GPU clusters; this program does so on one
// machine, simulates it, explains what it did, and reproduces what was published
// of others.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
)

func main() { os.Exit(run()) }

// collectLess is how much the heap may grow between collections, in per cent of
// what is live, unless GOGC says otherwise. A run keeps little alive, a few
// hundred bytes per job, and makes much that lasts one round.
const collectLess = 400

// run returns the exit status: 0 for success, 1 for failure, 2 for a command
// that was not understood.
func run() int {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectLess)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	err := root().ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	tell(os.Stderr, err)
	if errors.As(err, new(usageError)) {
		return 2
	}
	return 1
}

// tell writes an error as one line, and its hint, if any, as another.
func tell(w io.Writer, err error) {
	message, hint, _ := strings.Cut(err.Error(), hintMark)
	oneLine := strings.NewReplacer("\r", " ", "\n", "; ")
	fmt.Fprintln(w, "error: "+oneLine.Replace(strings.TrimSpace(message)))
	if hint != "" {
		fmt.Fprintln(w, "hint: "+oneLine.Replace(hint))
	}
}

// hintMark stands in an error's text before what to do next.
const hintMark = "\nhint: "

// hinted returns an error with what to do next.
func hinted(err error, format string, args ...any) error {
	return fmt.Errorf("%w"+hintMark+"%s", err, fmt.Sprintf(format, args...))
}

// usageError is a command line that was not understood.
type usageError struct{ error }

// Unwrap returns what was not understood.
func (e usageError) Unwrap() error { return e.error }

// misused returns a usageError with a text of its own.
func misused(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }
