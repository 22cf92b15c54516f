package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/live/kube/view"
	"github.com/oxgang/oxgang/live/status"
)

func (k *KubectlConnection) options() status.Options {
	o := status.Options{Wide: k.format == "wide", Bare: k.bare}
	if !o.Wide {
		o.Width = k.width
	}
	return o
}

func (k *KubectlConnection) status(ctx context.Context, c *view.Kubectl, namespace string) (*status.Status, error) {
	at, err := (&view.Looker{Kubectl: c, Namespace: namespace}).Look(ctx)
	if err != nil {
		return nil, err
	}
	return at.Status(c.Title(ctx)), nil
}

func (k *KubectlConnection) queues() *cobra.Command {
	cmd := k.command("queues", "List queues and their status, or show the last decisions for one", []string{"table", "wide", "json", "yaml"},
		func(ctx context.Context, w io.Writer, c *view.Kubectl, args []string) error {
			queue := strings.Join(args, "")
			if k.format == "json" || k.format == "yaml" {
				return raw(ctx, w, c, queue, k.format)
			}
			if queue != "" {
				return k.plan(ctx, w, c, queue)
			}
			return k.listQueues(ctx, w, c)
		})
	cmd.Use, cmd.Args = "queues [QUEUE]", cobra.MaximumNArgs(1)
	return cmd
}

// listQueues needs only the right to list queues: numbers that depend on pods of other namespaces are left out.
func (k *KubectlConnection) listQueues(ctx context.Context, w io.Writer, c *view.Kubectl) error {
	own, err := c.Namespace(ctx)
	if err != nil {
		return err
	}
	at, err := (&view.Looker{Kubectl: c, Fallback: own}).Look(ctx)
	switch {
	case err != nil:
		return err
	case at.Queues == nil && len(at.Lacks) > 0:
		return errors.New("you may not list queues; ask an administrator to bind the ClusterRole oxgang-viewer to you (kubectl create clusterrolebinding)")
	}
	return at.Status(c.Title(ctx)).WriteQueues(w, k.options())
}

func raw(ctx context.Context, w io.Writer, c *view.Kubectl, queue, format string) error {
	text, err := c.Raw(ctx, queue, format)
	if err == nil {
		_, err = w.Write(text)
	}
	return err
}

func (k *KubectlConnection) jobs() *cobra.Command {
	return k.command("jobs", "List running and waiting jobs of queues, with their plans", []string{"table", "wide", "json"},
		func(ctx context.Context, w io.Writer, c *view.Kubectl, _ []string) error {
			namespace, err := k.where(ctx, c)
			if err != nil {
				return err
			}
			now, err := k.status(ctx, c, namespace)
			switch {
			case err != nil:
				return err
			case k.format == "json":
				return cli.WriteJSON(w, now)
			}
			return now.WriteJobs(w, now.Jobs, k.options())
		})
}

func (k *KubectlConnection) top() *cobra.Command {
	cmd := k.command("top", "Show the GPUs of each node: jobs on them, and idle ones", []string{"table", "json"},
		func(ctx context.Context, w io.Writer, c *view.Kubectl, _ []string) error {
			now, err := k.status(ctx, c, "")
			switch {
			case err != nil:
				return err
			case k.format == "json":
				return cli.WriteJSON(w, now)
			case !k.bare:
				now.WriteHead(w)
				fmt.Fprintln(w)
			}
			return now.WriteNodes(w, k.options())
		})
	once := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		watched, err := cmd.Flags().GetBool("watch")
		if err != nil || !watched || k.bare || k.format == "json" || !cli.Terminal(cmd.OutOrStdout()) {
			return errors.Join(err, once(cmd, args))
		}
		now := func(ctx context.Context) (*status.Status, error) { return k.status(ctx, k.Kubectl(), "") }
		return KubectlHinted(runScreen(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), everyTwoSeconds(now)))
	}
	return cmd
}

func (k *KubectlConnection) plan(ctx context.Context, w io.Writer, c *view.Kubectl, queue string) error {
	p, err := c.Plan(ctx, queue)
	if err != nil {
		return err
	}
	if s := &p.Spec; !k.bare {
		fmt.Fprintf(w, "queue %s: round %d of epoch %d by %s, policy %s", p.Meta.Name, s.Round, s.Epoch, s.Leader, s.Policy)
		for _, price := range s.Prices {
			fmt.Fprintf(w, ", price of %s %.3g", price.GPUType, float64(price.Milli)/1000)
		}
		fmt.Fprint(w, "\n\n")
	}
	now := p.Status()
	return now.WriteJobs(w, now.Jobs, k.options())
}

func (k *KubectlConnection) explain() *cobra.Command {
	cmd := k.command("explain job NAME", "Explain why a job waits, or holds the GPUs it has", []string{"text", "json"},
		func(ctx context.Context, w io.Writer, c *view.Kubectl, args []string) error {
			if k.all {
				return cli.Misused("--all-namespaces cannot be used with one job; use --namespace")
			}
			namespace, err := k.where(ctx, c)
			if err != nil {
				return err
			}
			now, err := (&view.Looker{Kubectl: c}).Explain(ctx, namespace, args[1])
			switch {
			case errors.Is(err, view.ErrNotFound):
				return alike(ctx, c, namespace, args[1], err)
			case err != nil:
				return err
			case k.format == "json":
				return cli.WriteJSON(w, now)
			}
			all := now.All()
			for i := range all {
				err = errors.Join(err, all[i].WriteText(w, now.At))
			}
			return err
		})
	cmd.Args = cli.JobArg
	return cmd
}

func alike(ctx context.Context, c *view.Kubectl, namespace, name string, err error) error {
	plans, _ := c.Plans(ctx) // without them there is no hint
	if alike := printable.Closest(name, view.Names(plans, namespace)); len(alike) > 0 {
		return cli.Hinted(err, "did you mean %s?", printable.Line(strings.Join(alike, " or ")))
	}
	return cli.Hinted(err, "use --namespace if it is in another namespace")
}
