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
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/internal/near"
	"github.com/oxgang/oxgang/internal/printable"
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
			seen, err := c.Observe(ctx, all)
			if err != nil {
				return err
			}
			head := "NAME\tMODE\tPOLICY\tRUNNING\tWAITING\tGPUS\tUSED\tIDLE\tACTIVE"
			if k.format == "wide" {
				head += "\tNAMESPACES\tMESSAGE"
			}
			return k.table(w, head, len(all), func(i int) string { return queueRow(&all[i], seen, k.format == "wide") })
		})
}

// queueRow returns a row of the table of queues. What exists of a queue of mode Observe or Off is only
// known if it could be seen.
func queueRow(q *view.Queue, seen, wide bool) string {
	s := &q.Status
	counts := fmt.Sprintf("%d\t%d\t%d\t%d\t%d", s.Running, s.Waiting, s.GPUs, s.GPUsUsed, max(0, s.GPUs-s.GPUsUsed))
	if !seen && (q.Spec.Mode == "Observe" || q.Spec.Mode == "Off") {
		counts = "-\t-\t-\t-\t-"
	}
	active, message := "-", "-"
	if c := q.Condition("Active"); c != nil {
		active, message = c.Status, plain(c.Message)
	}
	row := strings.Join([]string{q.Meta.Name, q.Spec.Mode, q.Spec.Policy.Name, counts, active}, "\t")
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
	return k.command("jobs", "List the jobs of queues: what runs, who waits, how long, and what is planned", []string{"table", "wide", "json"},
		func(ctx context.Context, w io.Writer, c *view.Kubectl, _ []string) error {
			namespace, err := k.where(ctx, c)
			if err != nil {
				return err
			}
			plans, plansErr := c.Plans(ctx)
			if plansErr != nil && !errors.Is(plansErr, view.ErrForbidden) {
				return plansErr
			}
			jobs, err := c.Jobs(ctx, namespace, plans, plansErr)
			if err != nil {
				return err
			}
			if k.format == "json" {
				return cli.WriteJSON(w, jobs)
			}
			return k.jobsTable(w, jobs)
		})
}

// jobsTable writes a row for each job.
func (k *Connection) jobsTable(w io.Writer, jobs []view.Job) error {
	head := "NAMESPACE\tNAME\tKIND\tQUEUE\tSTATE\tGPUS\tPLANNED\tTYPE\tWAITS\tETA\tREASON"
	if k.format == "wide" {
		head += "\tNODES\tMESSAGE"
	}
	now := time.Now()
	return k.table(w, head, len(jobs), func(i int) string {
		j := &jobs[i]
		has, planned, waits := "-", "-", "-"
		if j.Observed != nil {
			has = strconv.Itoa(j.Observed.GPUs)
		}
		if j.Planned {
			planned = strconv.Itoa(j.GPUs)
		}
		if !j.Since.IsZero() {
			waits = printable.Short(now.Sub(j.Since))
		}
		row := []string{j.Namespace, j.Name, j.Kind, j.Queue, cmp.Or(j.State, "-"), has, planned, cmp.Or(j.GPUType, "-"), waits, kubeETA(j.ETA, now), cmp.Or(plain(j.Reason), "-")}
		if k.format == "wide" {
			row = append(row, cmp.Or(nodesText(nodesOf(j)), "-"), cmp.Or(plain(j.Message), "-"))
		}
		return strings.Join(row, "\t")
	})
}

// nodesOf returns the nodes that a job is on or, if its pods cannot be seen, is planned on.
func nodesOf(j *view.Job) []view.Share {
	if j.Observed != nil {
		return j.Observed.Nodes
	}
	return j.Allocation.Nodes
}

// kubeETA returns how long from now until a job ends: "1h20m-2h10m".
func kubeETA(e *view.ETA, now time.Time) string {
	if e == nil || e.End == nil || e.End.Earliest == nil && e.End.Latest == nil {
		return "-"
	}
	switch r := e.End; {
	case r.Latest == nil:
		return ">" + printable.Short(r.Earliest.Sub(now))
	case r.Earliest == nil:
		return "<" + printable.Short(r.Latest.Sub(now))
	default:
		return printable.Short(r.Earliest.Sub(now)) + "-" + printable.Short(r.Latest.Sub(now))
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
	fmt.Fprintf(&b, "%s (%s, queue %s) %s\n", e.Name, e.Kind, cmp.Or(e.Queue, "none"), state(e))
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%-8s %s\n", name, plain(text))
		}
	}
	line("planned", planned(e))
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

// state returns what exists of a job: "runs on 2 nvidia-h200 GPUs on gpu-a:2", "waits". Where its
// pods cannot be seen, that is what the plan has.
func state(e *view.Explanation) string {
	o := e.Observed
	switch {
	case e.Ended != "":
		return "has ended: " + e.Ended
	case o == nil && !e.Scheduled:
		return "waits"
	case o == nil && e.Plan == nil:
		return "is to have GPUs"
	case o == nil:
		return "is to have " + gpusOn(e.Plan.GPUs, e.Plan.GPUType, e.Plan.Nodes)
	case o.Pods == 0 && !e.Suspended:
		return "has no pods"
	case o.Pods == 0:
		return "waits"
	case e.Suspended:
		return fmt.Sprintf("stops: %d of its pods are not gone", o.Pods)
	case o.Ready < o.Pods:
		return fmt.Sprintf("starts: %d of its %d pods run", o.Ready, o.Pods)
	}
	gpuType := ""
	if asPlanned(e) {
		gpuType = e.Plan.GPUType
	}
	return "runs on " + gpusOn(o.GPUs, gpuType, o.Nodes)
}

// asPlanned reports whether a job runs where its plan has it, or waits as planned.
func asPlanned(e *view.Explanation) bool {
	return e.Plan != nil && e.Observed != nil && e.Observed.GPUs == e.Plan.GPUs && slices.Equal(e.Observed.Nodes, e.Plan.Nodes)
}

// planned returns what the plan has for a job; "" if that is what exists.
func planned(e *view.Explanation) string {
	watched := e.Mode != "" && !e.Acts()
	switch {
	case e.Plan == nil || e.Observed == nil, asPlanned(e) && !watched:
		return ""
	case watched:
		return gpusOn(e.Plan.GPUs, e.Plan.GPUType, e.Plan.Nodes) + " (mode " + e.Mode + ": it is not carried out)"
	}
	return gpusOn(e.Plan.GPUs, e.Plan.GPUType, e.Plan.Nodes)
}

// gpusOn returns "2 nvidia-h200 GPUs on gpu-a:2", "no GPUs".
func gpusOn(gpus int, gpuType string, nodes []view.Share) string {
	if gpus == 0 {
		return "no GPUs"
	}
	text := fmt.Sprintf("%d %s", gpus, strings.TrimLeft(gpuType+" GPUs", " "))
	if on := nodesText(nodes); on != "" {
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
