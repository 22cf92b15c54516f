package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/live/kube/view"
)

func (k *KubectlConnection) release() *cobra.Command {
	var every bool
	cmd := &cobra.Command{
		Use:   "release [JOB...]",
		Short: "Start waiting jobs of a queue that Oxgang no longer manages",
		Long: `Remove the scheduler's changes (marks, scheduling gate, node) from the pod templates of suspended
jobs, and resume the jobs. Name the jobs, or use --all. Their queue must be deleted, or in a mode
other than Admit and Resize. Kueue still decides about jobs in its queues. Running jobs are not
changed.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if every == (len(args) > 0) {
				return cli.Misused("got %d jobs and --all=%v: name jobs, or use --all", len(args), every)
			}
			if k.all && !every {
				return cli.Misused("--all-namespaces cannot be used with job names; use --namespace")
			}
			return KubectlHinted(k.releaseAll(cmd.Context(), cmd.OutOrStdout(), args))
		},
	}
	cmd.Flags().BoolVar(&every, "all", false, "release all suspended jobs of the namespace that name a queue; with -A, of all namespaces")
	return cmd
}

func (k *KubectlConnection) releaseAll(ctx context.Context, w io.Writer, names []string) error {
	c := k.Kubectl()
	namespace, err := k.where(ctx, c)
	if err != nil {
		return err
	}
	var waiting []view.Release
	for _, name := range names {
		waiting = append(waiting, view.Release{Namespace: namespace, Name: name})
	}
	if len(names) == 0 {
		if waiting, err = c.Waiting(ctx, namespace); err != nil {
			return err
		}
		for i := range waiting {
			waiting[i].Name = waiting[i].Kind + "/" + waiting[i].Name
		}
	}
	var errs []error
	for i := range waiting {
		r, err := c.Release(ctx, waiting[i].Namespace, waiting[i].Name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		verb := "released"
		if r.Kueue {
			verb = "left to Kueue"
		}
		fmt.Fprintf(w, "%s %s/%s %s\n", strings.ToLower(r.Kind), r.Namespace, r.Name, verb)
	}
	if len(waiting) == 0 {
		fmt.Fprintln(w, "no suspended job waits in a queue")
	}
	err = errors.Join(errs...)
	if errors.Is(err, view.ErrManaged) {
		return cli.Hinted(err, `first: kubectl patch oxq QUEUE --type merge -p '{"spec":{"mode":"Observe"}}'`)
	}
	return err
}
