package kube

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/live/kube/view"
)

// ui returns the command that shows a cluster in a browser.
func (k *Connection) ui() *cobra.Command {
	var (
		cancels   bool
		listen    string
		scheduler string
	)
	cmd := &cobra.Command{
		SuggestFor: []string{"web", "dashboard", "page", "view"},
		Use:        "ui", Short: "Serve a page that shows the queues, jobs and GPUs of the cluster", Args: cli.NoArgs,
		Long: `Serve a page, on loopback, that shows what runs where, who waits and why, which GPUs are idle, and when jobs are expected to
start and end, as it changes. It shows what you may see: of all namespaces or, if you may not list the pods of all, of yours;
-n names another. It prints the page's address with a token, without which nobody sees anything, and serves until Ctrl-C. The page
can change nothing, unless --allow-cancel is given: then who opens the printed address may delete jobs that you may delete. Who has
the role oxgang-asker in the scheduler's namespace can ask there what would be, if a job were cancelled, say.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := k.check([]string{""}); err != nil {
				return err
			}
			l, err := k.looker(cmd.Context())
			if err != nil {
				return Hinted(err)
			}
			source := view.NewPage(l, l.Title(cmd.Context()))
			if err := source.Look(cmd.Context()); err != nil {
				return Hinted(err)
			}
			if l.MayAsk(cmd.Context(), scheduler) {
				source.AskBy(k.Kubectl(), scheduler)
			}
			ctx, stop := context.WithCancel(cmd.Context())
			defer stop()
			go source.Follow(ctx)
			return cli.ServePage(cmd, source, listen, cancels)
		},
	}
	cmd.Flags().BoolVar(&cancels, "allow-cancel", false, "who opens the printed address may delete jobs that you may delete")
	cmd.Flags().StringVar(&scheduler, "scheduler-namespace", "oxgang-system", "namespace of the scheduler, which is asked what would be")
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:0", "address on loopback; port 0: any free one")
	return cmd
}

// looker returns what looks at the cluster: at the namespace that is asked for, else at all, or at that of the context where the user may not.
func (k *Connection) looker(ctx context.Context) (*view.Looker, error) {
	l := &view.Looker{Kubectl: k.Kubectl(), Namespace: k.namespace}
	if k.all || k.namespace != "" {
		return l, nil
	}
	var err error
	l.Fallback, err = l.Kubectl.Namespace(ctx)
	return l, err
}
