package live

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/live/kube/view"
)

func (k *KubectlConnection) try() *cobra.Command {
	var file, queue, scheduler string
	cmd := k.command("try", "Check when a job would start, without creating it", []string{"text", "json"},
		func(ctx context.Context, w io.Writer, c *view.Kubectl, _ []string) error {
			if file == "" {
				return cli.Usage(cli.Hinted(errors.New("no manifest"), "name it with -f"))
			}
			spec, err := cli.Submission(ctx, file)
			if err != nil {
				return err
			}
			if queue, err = queueFor(ctx, c, queue, spec.Queue); err != nil {
				return err
			}
			a, err := c.Try(ctx, scheduler, queue, spec)
			if err != nil {
				return err
			}
			return cli.WriteTrial(w, k.format, a)
		})
	cmd.Long = `Check whether a job would start now; if not, when; and on which GPUs. Nothing is created. The
scheduler answers from its own state; you need the role oxgang-asker in its namespace. The exit
status is 0 if the job starts in the next round, 3 if it waits, and 4 if it can never start.`
	f := cmd.Flags()
	f.StringVarP(&file, "filename", "f", "", "manifest with one job; - for standard input")
	f.StringVar(&queue, "queue", "", "queue of the job (default: the queue in the manifest, or the only one)")
	f.StringVar(&scheduler, "scheduler-namespace", "oxgang-system", "namespace of the scheduler")
	return cmd
}

// queueFor returns the first of some names that is a queue, or the only queue.
func queueFor(ctx context.Context, c *view.Kubectl, stated, manifest string) (string, error) {
	if stated != "" {
		return stated, nil
	}
	queues, err := c.Queues(ctx)
	if err != nil {
		return "", err
	}
	names := make([]string, len(queues))
	for i := range queues {
		names[i] = queues[i].Meta.Name
	}
	switch {
	case slices.Contains(names, manifest):
		return manifest, nil
	case len(names) == 1:
		return names[0], nil
	case len(names) == 0:
		return "", errors.New("there are no queues")
	}
	return "", cli.Usage(cli.Hinted(errors.New("the manifest does not name its queue"), "choose it with --queue: %s", strings.Join(names, ", ")))
}
