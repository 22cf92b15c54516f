package live

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/live/kube/view"
)

func (k *KubectlConnection) ui() *cobra.Command {
	var (
		cancels   bool
		listen    string
		scheduler string
		gpus      cli.Measured
	)
	cmd := &cobra.Command{
		SuggestFor: []string{"web", "dashboard", "page", "view"},
		Use:        "ui", Short: "Serve a web page of the cluster's queues, jobs and GPUs", Args: cli.NoArgs,
		Long: `Serve a live web page on loopback: running and waiting jobs, reasons, idle GPUs, and expected starts
and ends. It shows all namespaces or, if you may not list all pods, yours; -n chooses a namespace. The
command prints the page's address with a secret token, and serves until Ctrl-C. The page is read-only
unless --allow-cancel is given: then anyone with the printed address can delete jobs that you may
delete. With the role oxgang-asker in the scheduler's namespace, you can ask what-if questions, for
example what would change if a job were cancelled.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := k.check([]string{""}); err != nil {
				return err
			}
			l, err := k.looker(cmd.Context())
			if err != nil {
				return KubectlHinted(err)
			}
			ctx, stop := context.WithCancel(cmd.Context())
			defer stop()
			source := view.NewPage(l, l.Title(cmd.Context()))
			meter, err := gpus.Meter(ctx)
			if err != nil {
				return err
			}
			if meter != nil {
				source.MeasureBy(meter)
			}
			if err := source.Look(cmd.Context()); err != nil {
				return KubectlHinted(err)
			}
			if l.MayAsk(cmd.Context(), scheduler) {
				source.AskBy(k.Kubectl(), scheduler)
			}
			go source.Follow(ctx)
			return cli.ServePage(cmd, source, listen, cancels)
		},
	}
	cmd.Flags().BoolVar(&cancels, "allow-cancel", false, "let anyone with the printed address delete jobs that you may delete")
	cmd.Flags().StringVar(&scheduler, "scheduler-namespace", "oxgang-system", "namespace of the scheduler, for what-if questions")
	gpus.Add(cmd)
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:0", "address on loopback; port 0 for any free port")
	return cmd
}

func (k *KubectlConnection) looker(ctx context.Context) (*view.Looker, error) {
	l := &view.Looker{Kubectl: k.Kubectl(), Namespace: k.namespace}
	if k.all || k.namespace != "" {
		return l, nil
	}
	var err error
	l.Fallback, err = l.Kubectl.Namespace(ctx)
	return l, err
}
