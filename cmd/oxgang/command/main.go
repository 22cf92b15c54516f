// Package command is the command line of oxgang as a function, for programs that add their own policies.
package command

import (
	"context"
	"errors"
	"os"
	"os/signal"
	_ "time/tzdata" // --zone needs it on some machines

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/lab/rules"
	"github.com/oxgang/oxgang/policy/registry"
)

// Main runs the command line of this process. policies are available in addition to the built-in ones. It returns the
// exit status: 0 for success, 1 for failure, 2 for wrong usage or an invalid policy, or a status of "oxgang try". Call
// it once.
func Main(policies ...registry.Entry) int {
	collect(collectLess)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	err := run(ctx, policies)
	if err == nil {
		return 0
	}
	if status := cli.StatusError(0); errors.As(err, &status) {
		return int(status)
	}
	cli.PrintError(os.Stderr, err)
	if errors.As(err, new(cli.UsageError)) {
		return 2
	}
	return 1
}

func run(ctx context.Context, policies []registry.Entry) error {
	rules.Register()
	for i := range policies {
		if err := registry.Register(&policies[i]); err != nil {
			return cli.Usage(err)
		}
	}
	return root(os.Args[1:]).ExecuteContext(ctx)
}
