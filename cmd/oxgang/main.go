// Oxgang schedules training jobs on GPU clusters; this program does so on one
// machine, simulates it, explains what it did, and reproduces what was published
// of others.
package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"runtime/debug"
	_ "time/tzdata" // --zone works on machines without a database of time zones

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/reference"
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
	reference.Register()
	err := root().ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	cli.PrintError(os.Stderr, err)
	if errors.As(err, new(cli.UsageError)) {
		return 2
	}
	return 1
}
