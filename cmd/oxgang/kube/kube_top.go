package kube

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/live/kube/view"
)

// top shows how the nodes of all queues are used.
func (k *Connection) top() *cobra.Command {
	return k.command("top", "Show which jobs have the GPUs of which nodes, and which are idle", []string{"table", "json"},
		func(ctx context.Context, w io.Writer, c *view.Kubectl, _ []string) error {
			queues, err := c.Queues(ctx)
			if err != nil {
				return err
			}
			plans, err := c.Plans(ctx)
			if err != nil && !errors.Is(err, view.ErrForbidden) {
				return err
			}
			nodes, err := c.Nodes(ctx, queues, plans)
			if err != nil {
				return err
			}
			if _, err := c.Observe(ctx, queues); err != nil {
				return err
			}
			if k.format == "json" {
				return cli.WriteJSON(w, nodes)
			}
			for i := range queues {
				if !k.bare {
					fmt.Fprintln(w, queueLine(&queues[i], plans))
				}
			}
			return k.nodesTable(w, nodes)
		})
}

// queueLine returns the state of a queue and of its plan in one line.
func queueLine(q *view.Queue, plans []view.Plan) string {
	s := &q.Status
	line := fmt.Sprintf("%s: mode %s, policy %s, %d running, %d waiting, GPUs %d of %d", q.Meta.Name, q.Spec.Mode, q.Spec.Policy.Name, s.Running, s.Waiting, s.GPUsUsed, s.GPUs)
	if i := slices.IndexFunc(plans, func(p view.Plan) bool { return p.Meta.Name == q.Meta.Name }); i >= 0 {
		line += fmt.Sprintf(", round %d%s", plans[i].Spec.Round, pricesOf(&plans[i]))
	}
	if c := q.Condition("Active"); c != nil && c.Status != "True" {
		line += "\nwarning: " + plain(c.Message)
	}
	return line
}

// pricesOf returns ", price of h200 1.25" for each type of a plan.
func pricesOf(p *view.Plan) string {
	var b strings.Builder
	for _, price := range p.Spec.Prices {
		fmt.Fprintf(&b, ", price of %s %.3g", price.GPUType, float64(price.Milli)/1000)
	}
	return b.String()
}

// nodesTable writes a row for each node.
func (k *Connection) nodesTable(w io.Writer, nodes []view.Node) error {
	if !k.bare {
		fmt.Fprintln(w)
	}
	return k.table(w, "NODE\tQUEUE\tTYPE\tGPUS\tUSED\tIDLE\tJOBS", len(nodes), func(i int) string {
		n := &nodes[i]
		has, idle := "-", "-"
		if n.GPUs > 0 {
			has, idle = strconv.Itoa(n.GPUs), strconv.Itoa(n.Idle())
		}
		return strings.Join([]string{n.Name, cmp.Or(n.Queue, "-"), cmp.Or(plain(n.GPUType), "-"), has, strconv.Itoa(n.Used), idle, cmp.Or(strings.Join(n.Jobs, ","), "-")}, "\t")
	})
}

// plan shows the plan of a queue.
func (k *Connection) plan() *cobra.Command {
	return k.command("plan QUEUE", "Show what was decided last for a queue", []string{"table", "wide", "json", "yaml"},
		func(ctx context.Context, w io.Writer, c *view.Kubectl, args []string) error {
			if k.format == "json" || k.format == "yaml" {
				return raw(ctx, w, c, args[0], k.format)
			}
			p, err := c.Plan(ctx, args[0])
			if err != nil {
				return err
			}
			s := &p.Spec
			if !k.bare {
				fmt.Fprintf(w, "queue %s: round %d of epoch %d by %s, policy %s%s\n\n", p.Meta.Name, s.Round, s.Epoch, s.Leader, s.Policy, pricesOf(p))
			}
			return k.jobsTable(w, view.Jobs([]view.Plan{*p}, ""))
		})
}
