package simulate

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/simulate/history"
)

func (n *nextNodes) table(w io.Writer) error {
	fmt.Fprintf(w, "%s: mean JCT %.0f s as recorded, %.0f s in the simulation without another node\n", n.Policy, n.Recorded, n.MeanJCT)
	fmt.Fprintf(w, "Simulated: %s.\n%s\n\n", n.Trust.Errors(), n.Trust.Verdict())
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "NODE\tJCT SAVED (s)\tRANGE\tWAIT SAVED (GPU-h)\tRANGE\tBREAK-EVEN/h\tRANGE\tPRICE/h\tBY PRICES (s)\tOFF (%)")
	for i := range n.Nodes {
		n.row(t, &n.Nodes[i])
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if err := n.teams(w); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s", n.notes())
	return err
}

func (n *nextNodes) row(w io.Writer, node *history.NextNode) {
	ranges := [3]string{"-", "-", "-"}
	if low, high := node.Low, node.High; low != nil {
		ranges = [3]string{
			fmt.Sprintf("%.0f to %.0f", low.JCT, high.JCT), fmt.Sprintf("%.1f to %.1f", low.Waiting, high.Waiting),
			fmt.Sprintf("%.2f to %.2f", low.Sooner*n.Worth, high.Sooner*n.Worth),
		}
	}
	estimated, off := "-", "-"
	if node.Estimated != nil {
		estimated = fmt.Sprintf("%.0f", *node.Estimated)
		if node.Saved.JCT > 0 {
			off = fmt.Sprintf("%+.0f", 100*(*node.Estimated/node.Saved.JCT-1))
		}
	}
	fmt.Fprintf(w, "%s x %d\t%.0f\t%s\t%.1f\t%s\t%.2f\t%s\t%.2f\t%s\t%s\n", node.Type, node.GPUs, node.Saved.JCT, ranges[0],
		node.Saved.Waiting, ranges[1], node.Saved.Sooner*n.Worth, ranges[2], node.Rate, estimated, off)
}

func (n *nextNodes) teams(w io.Writer) error {
	if len(n.Nodes[0].Teams) < 2 {
		return nil
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "QUEUE\tUSER\tJOBS\tNODE\tJCT SAVED (s)\tWAIT SAVED (GPU-h)")
	for k := range n.Nodes[0].Teams {
		for i := range n.Nodes {
			team := &n.Nodes[i].Teams[k]
			fmt.Fprintf(t, "%s\t%s\t%d\t%s x %d\t%.0f\t%.1f\n", cmp.Or(team.Queue, "-"), cmp.Or(team.User, "-"), team.Jobs, n.Nodes[i].Type, n.Nodes[i].GPUs, team.JCT, team.Waiting)
		}
	}
	return t.Flush()
}

func (n *nextNodes) notes() string {
	stamp := ""
	if !n.Trust.Trusted {
		stamp = metrics.Stamp
	}
	text := fmt.Sprintf("Savings%s are the difference between a simulation with the node and one without it.\nBREAK-EVEN/h: the hourly price that these savings pay for, at %.2f per saved GPU-hour.\n", stamp, n.Worth)
	if n.Orders > 1 {
		text += fmt.Sprintf("Ranges: 90 %% intervals from %d orders of the same jobs.\n", n.Orders)
	}
	if n.Learned != "" {
		text += fmt.Sprintf("Simulated from what the run learned of its jobs, because its inputs are missing: %s. This is less accurate; see docs/guide/ledger.md.\n", n.Learned)
	}
	switch {
	case n.Nodes[0].Estimated == nil:
		text += "This policy's plans have no prices for an estimate of savings.\n"
	case n.off() > near:
		text += fmt.Sprintf("BY PRICES predicts the saved JCT from shadow prices alone. It is off by up to %.0f %%, because jobs that end sooner make room for others.\n", 100*n.off())
	}
	return text
}

const near = 0.2

func (n *nextNodes) off() float64 {
	worst := 0.0
	for i := range n.Nodes {
		if e, saved := n.Nodes[i].Estimated, n.Nodes[i].Saved.JCT; e != nil && saved > 0 {
			worst = max(worst, math.Abs(*e/saved-1))
		}
	}
	return worst
}
