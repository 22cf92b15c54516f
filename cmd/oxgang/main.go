// Oxgang schedules training jobs on GPU clusters; this program simulates it,
// explains what it did, and reproduces what was published of others.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
)

func main() { os.Exit(run()) }

// run returns the exit status: 0 for success, 1 for failure, 2 for a command
// that was not understood.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := root().ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	message, hint, _ := strings.Cut(err.Error(), "\nhint: ")
	fmt.Fprintln(os.Stderr, "error: "+message)
	if hint != "" {
		fmt.Fprintln(os.Stderr, "hint: "+hint)
	}
	if errors.As(err, new(usageError)) {
		return 2
	}
	return 1
}

// usageError is a command line that was not understood.
type usageError struct{ error }
