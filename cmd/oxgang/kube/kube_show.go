package kube

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/internal/near"
	"github.com/oxgang/oxgang/live/kube/view"
)

// queues lists the queues.
func (k *Connection) queues() *cobra.Command {
	return k.command("queues", "List the queues, and how it stands with them", []string{"table", "wide", "json", "yaml"},
		func(ctx context.Context, w io.Writer, c *view.Kubectl, _ []string) error {
			if k.format == "json" || k.format == "yaml" {
				return raw(ctx, w, c, "", k.format)
			}
			all, err := c.Queues(ctx)
			if err != nil {
				return err
			}
			head := "NAME\tMODE\tPOLICY\tRUNNING\tWAITING\tGPUS\tUSED\tACTIVE"
			if k.format == "wide" {
				head += "\tNAMESPACES\tMESSAGE"
			}
			return k.table(w, head, len(all), func(i int) string { return queueRow(&all[i], k.format == "wide") })
		})
}

// queueRow returns a row of the table of queues.
func queueRow(q *view.Queue, wide bool) string {
	s := &q.Status
	active, message := "-", "-"
	if c := q.Condition("Active"); c != nil {
		active, message = c.Status, plain(c.Message)
	}
	row := fmt.Sprintf("%s\t%s\t%s\t%d\t%d\t%d\t%d\t%s", q.Meta.Name, q.Spec.Mode, q.Spec.Policy.Name, s.Running, s.Waiting, s.GPUs, s.GPUsUsed, active)
	if !wide {
		return row
	}
	var names []string
	for _, n := range q.Spec.Namespaces {
		names = append(names, n.Name)
	}
	return row + "\t" + cmp.Or(strings.Join(names, ","), "-") + "\t" + message
}

// raw writes what kubectl prints.
func raw(ctx context.Context, w io.Writer, c *view.Kubectl, queue, format string) error {
	text, err := c.Raw(ctx, queue, format)
	if err == nil {
		_, err = w.Write(text)
	}
	return err
}

// table writes a head, unless it is not wanted, and rows.
func (k *Connection) table(w io.Writer, head string, rows int, row func(int) string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if !k.bare {
		fmt.Fprintln(t, head)
	}
	for i := range rows {
		if _, err := fmt.Fprintln(t, row(i)); err != nil {
			return err
		}
	}
	return t.Flush()
}

// jobs lists the jobs of all plans.
func (k *Connection) jobs() *cobra.Command {
	return k.command("jobs", "List the jobs that the last plans have", []string{"table", "wide", "json"},
		func(ctx context.Context, w io.Writer, c *view.Kubectl, _ []string) error {
			namespace, err := k.where(ctx, c)
			if err != nil {
				return err
			}
			plans, err := c.Plans(ctx)
			if err != nil {
				return err
			}
			jobs := view.Jobs(plans, namespace)
			if k.format == "json" {
				return cli.WriteJSON(w, jobs)
			}
			return k.jobsTable(w, jobs)
		})
}

// jobsTable writes a row for each job.
func (k *Connection) jobsTable(w io.Writer, jobs []view.Job) error {
	head := "NAMESPACE\tNAME\tKIND\tQUEUE\tGPUS\tTYPE\tETA\tREASON"
	if k.format == "wide" {
		head += "\tNODES\tMESSAGE"
	}
	now := time.Now()
	return k.table(w, head, len(jobs), func(i int) string {
		j := &jobs[i]
		row := []string{j.Namespace, j.Name, j.Kind, j.Queue, strconv.Itoa(j.GPUs), cmp.Or(j.GPUType, "-"), kubeETA(j.ETA, now), cmp.Or(plain(j.Reason), "-")}
		if k.format == "wide" {
			row = append(row, cmp.Or(nodesText(j.Nodes), "-"), cmp.Or(plain(j.Message), "-"))
		}
		return strings.Join(row, "\t")
	})
}

// kubeETA returns how long from now until a job ends: "1h20m-2h10m".
func kubeETA(e *view.ETA, now time.Time) string {
	if e == nil || e.End == nil || e.End.Earliest == nil && e.End.Latest == nil {
		return "-"
	}
	switch r := e.End; {
	case r.Latest == nil:
		return ">" + cli.Short(r.Earliest.Sub(now))
	case r.Earliest == nil:
		return "<" + cli.Short(r.Latest.Sub(now))
	default:
		return cli.Short(r.Earliest.Sub(now)) + "-" + cli.Short(r.Latest.Sub(now))
	}
}

// nodesText returns "gpu-a:2,gpu-b:8".
func nodesText(nodes []view.Share) string {
	all := make([]string, len(nodes))
	for i, n := range nodes {
		all[i] = fmt.Sprintf("%s:%d", n.Name, n.GPUs)
	}
	return strings.Join(all, ",")
}

// explain returns the command that shows the state of a job and why it is so.
func (k *Connection) explain() *cobra.Command {
	return k.command("job NAME", "Say why a job waits or has what it has", []string{"text", "json"},
		func(ctx context.Context, w io.Writer, c *view.Kubectl, args []string) error {
			if k.all {
				return cli.Misused("--all-namespaces of one job, want --namespace")
			}
			namespace, err := k.where(ctx, c)
			if err != nil {
				return err
			}
			e, err := c.Explain(ctx, namespace, args[0])
			switch {
			case errors.Is(err, view.ErrNotFound):
				return alike(ctx, c, namespace, args[0], err)
			case err != nil:
				return err
			case k.format == "json":
				return cli.WriteJSON(w, e)
			}
			return explainText(w, e)
		})
}

// alike returns the error for a job that does not exist, with the names that may have been meant.
func alike(ctx context.Context, c *view.Kubectl, namespace, name string, err error) error {
	plans, _ := c.Plans(ctx) // without them there is no hint
	var names []string
	for _, j := range view.Jobs(plans, namespace) {
		names = append(names, j.Name)
	}
	if alike := near.Closest(name, names); len(alike) > 0 {
		return cli.Hinted(err, "did you mean %s?", strings.Join(alike, " or "))
	}
	return cli.Hinted(err, "--namespace says where it is")
}

// explainText writes the state of a job: a line for each known property.
func explainText(w io.Writer, e *view.Explanation) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s, queue %s) %s\n", e.Name, e.Kind, cmp.Or(e.Queue, "none"), holds(e))
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%-8s %s\n", name, plain(text))
		}
	}
	line("reason", strings.TrimSuffix(e.Reason.Reason+": "+e.Message, ": "))
	if !e.Since.IsZero() {
		line("since", e.Since.UTC().Format(minute))
	}
	if e.Plan != nil && e.FromPlan() {
		line("unblock", e.Plan.Unblock)
		if eta := e.Plan.ETA; eta != nil {
			line("start", rangeText(eta.Start))
			line("end", rangeText(eta.End))
		}
		line("plan", fmt.Sprintf("round %d", e.Round))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// plain returns a text of an object in one line, without control characters of terminals: anybody
// who may write the object could have put some there.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
}

// holds returns what a job has: "has 2 nvidia-h200 GPUs on gpu-a:2", "waits".
func holds(e *view.Explanation) string {
	switch {
	case !e.Scheduled:
		return "waits"
	case e.Plan == nil:
		return "has GPUs"
	}
	p := e.Plan
	text := fmt.Sprintf("has %d %s", p.GPUs, strings.TrimLeft(p.GPUType+" GPUs", " "))
	if on := nodesText(p.Nodes); on != "" {
		text += " on " + on
	}
	return text
}

// minute is how times are printed.
const minute = "2006-01-02 15:04 UTC"

// rangeText returns "2026-11-22 06:40 UTC to 2026-11-22 07:10 UTC (80 %), median 2026-11-22 06:52 UTC"; ""
// if nothing is known.
func rangeText(r *view.Range) string {
	switch {
	case r == nil || r.Earliest == nil && r.Latest == nil:
		return ""
	case r.Latest == nil:
		return "not before " + r.Earliest.UTC().Format(minute)
	case r.Earliest == nil:
		return "by " + r.Latest.UTC().Format(minute)
	}
	text := r.Earliest.UTC().Format(minute) + " to " + r.Latest.UTC().Format(minute)
	if r.Likely == nil {
		return text
	}
	return text + " (80 %), median " + r.Likely.UTC().Format(minute)
}
