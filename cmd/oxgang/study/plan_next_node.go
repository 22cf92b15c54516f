package study

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/config"
	"github.com/oxgang/oxgang/experiments"
	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/journal"
	"github.com/oxgang/oxgang/metrics"
	"github.com/oxgang/oxgang/policy/builtin"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/whatif"
)

// nextNode is one call of oxgang plan next-node.
type nextNode struct {
	file, format string
	orders       int
	worth        float64
}

// nextNodes is what oxgang plan next-node prints as JSON.
type nextNodes struct {
	*whatif.NextNodeStudy
	Worth   float64 `json:"gpu_hour_worth"`
	Trusted bool    `json:"trusted"`                   // the run simulated again is as recorded
	Learned string  `json:"learned_because,omitempty"` // why it is simulated from what it learned of its jobs
}

func planNextNodeCommand() *cobra.Command {
	var n nextNode
	formats := []string{"table", "json"}
	cmd := &cobra.Command{
		Use:   "next-node JOURNAL",
		Short: "Say for each GPU type what one more node would have saved",
		Long: `Say for a recorded run and each GPU type of which nodes are owned what one more such node would
have saved: of the mean time to completion and of GPU-hours of waiting, in all and by queue and user,
and up to which price per hour it would have paid. The run is simulated again, with the node and without
it: from the trace and the profiles that its journal names, if they are still there; else, as of live
runs, from what it learned of its jobs, in the recorded order alone, and without a range.

The range is where the same jobs in one more order would be, nine times of ten: blocks of the trace's
time change places. A range with 0 in it says that the order of the jobs matters more than the node.

The break-even price is what the node's hours save, in GPU-hours: the time by which each job ended
sooner, times the GPUs that it asks for, at --gpu-hour-worth for each.

BY PRICES is what the shadow prices of the recorded rounds would say alone, and how far that is off.`,
		Example: `  oxgang simulate --policy oxgang --out run/
  oxgang plan next-node run/oxgang.oxj`,
		Args: cli.OneArg("JOURNAL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			n.file = args[0]
			switch {
			case !slices.Contains(formats, n.format):
				return cli.Misused("output %q, want one of %s", n.format, strings.Join(formats, ", "))
			case n.orders < 1 || n.orders > whatif.MostOrders:
				return cli.Misused("--orders %d, want 1 to %d", n.orders, whatif.MostOrders)
			case !(n.worth >= 0) || math.IsInf(n.worth, 0):
				return cli.Misused("--gpu-hour-worth %v, want a price, or 0 for the mean price of the cluster", n.worth)
			}
			found, err := n.study(cmd.Context())
			if err != nil {
				return fmt.Errorf("%s: %w", n.file, err)
			}
			if n.format == "json" {
				return cli.WriteJSON(cmd.OutOrStdout(), found)
			}
			var text strings.Builder
			if err := found.table(&text); err != nil {
				return err
			}
			_, err = io.WriteString(cmd.OutOrStdout(), printable.Text(text.String()))
			return err
		},
	}
	f := cmd.Flags()
	f.IntVar(&n.orders, "orders", 8, fmt.Sprintf("orders of the jobs that are simulated, 1 to %d; 1: the recorded one alone, and no range is stated", whatif.MostOrders))
	f.Float64Var(&n.worth, "gpu-hour-worth", 0, "what it is worth if a job that asks for one GPU ends an hour sooner; 0: the mean price of the cluster's GPU-hours")
	f.StringVarP(&n.format, "output", "o", "table", strings.Join(formats, ", "))
	cli.Complete(cmd, "output", formats)
	return cmd
}

// study simulates the run of the journal again: from its own inputs, where they can be read, and else
// from what it learned of its jobs, in the recorded order alone.
func (n *nextNode) study(ctx context.Context) (*nextNodes, error) {
	var h journal.Header
	if err := n.read(ctx, func(j *journal.Reader) error { h = j.Header(); return nil }); err != nil {
		return nil, err
	}
	entry, err := builtin.Find(h.Policy)
	if err != nil {
		return nil, err
	}
	if entry.Traits().Rents {
		return nil, fmt.Errorf("policy %s rents its nodes; want plan budget, which says what more of them buy", h.Policy)
	}
	c, in, recorded, why := n.inputs(ctx, &h)
	if why != nil {
		return n.learned(ctx, &h, why)
	}
	s, err := whatif.NextNodes(ctx, in.Cluster, n.orders, runtime.GOMAXPROCS(0), func(ctx context.Context, nodes *cluster.Cluster, order int, o scheduler.Observer) (*metrics.Result, error) {
		run, err := experiments.SimulateVariant(ctx, c, in, h.Policy, nodes, order, o)
		if err != nil {
			return nil, err
		}
		return run.Result, nil
	})
	if err != nil {
		return nil, err
	}
	return n.found(s, &h, recorded, in.Cluster)
}

// read opens the journal.
func (n *nextNode) read(ctx context.Context, use func(*journal.Reader) error) error {
	j, f, err := cli.OpenJournal(ctx, n.file)
	if err != nil {
		return err
	}
	defer f.Close()
	return use(j)
}

// inputs returns the inputs of the recorded run, and how it went; an error says why they cannot be had.
func (n *nextNode) inputs(ctx context.Context, h *journal.Header) (c *config.Config, in *experiments.Inputs, recorded *experiments.Run, err error) {
	if !slices.ContainsFunc(h.Settings, func(s journal.Setting) bool { return s.Name == "cluster" }) {
		return nil, nil, nil, errors.New("the run was no simulation")
	}
	if c, in, err = experiments.Origin(h, cli.FilesUntil(ctx)); err != nil {
		return nil, nil, nil, err
	}
	err = n.read(ctx, func(j *journal.Reader) (err error) {
		recorded, err = experiments.Recorded(j, c, in)
		return err
	})
	return c, in, recorded, err
}

// learned simulates the run from what it learned of its jobs. Its own inputs cannot be had: why.
func (n *nextNode) learned(ctx context.Context, h *journal.Header, why error) (*nextNodes, error) {
	again, err := experiments.Again(h, "", cli.FilesUntil(ctx))
	if err != nil {
		return nil, err
	}
	var recorded *experiments.Run
	if err := n.read(ctx, func(j *journal.Reader) (err error) { recorded, err = experiments.Recorded(j, nil, nil); return err }); err != nil {
		return nil, err
	}
	var s *whatif.NextNodeStudy
	err = n.read(ctx, func(j *journal.Reader) error {
		r, err := whatif.NewResimulator(j, whatif.Options{Fresh: again.Fresh, Scheduler: again.Scheduler})
		if err == nil {
			s, err = whatif.NextNodes(ctx, h.Cluster, 1, 1, r.Simulate)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	found, err := n.found(s, h, recorded, h.Cluster)
	if found != nil {
		found.Learned = why.Error()
	}
	return found, err
}

// found adds to a study what is known without it.
func (n *nextNode) found(s *whatif.NextNodeStudy, h *journal.Header, recorded *experiments.Run, nodes *cluster.Cluster) (*nextNodes, error) {
	if len(s.Nodes) == 0 {
		return nil, errors.New("no nodes are owned, so none can be added")
	}
	s.Policy, s.Recorded = h.Policy, recorded.Result.Summary.MeanJCT
	all := &nextNodes{NextNodeStudy: s, Worth: n.worth, Trusted: math.Abs(s.Error()) <= trusted}
	if all.Worth == 0 {
		all.Worth = meanPrice(nodes)
	}
	return all, nil
}

// trusted is the error of a simulation's mean JCT from which its figures are not to be trusted.
const trusted = 0.05

// meanPrice returns the mean price per GPU-hour of the nodes that are owned.
func meanPrice(c *cluster.Cluster) float64 {
	price, gpus := 0.0, 0.0
	for _, n := range c.Held().Nodes() {
		price += n.GPUPrice() * float64(n.Capacity.GPUs)
		gpus += float64(n.Capacity.GPUs)
	}
	return price / max(1, gpus)
}

// table writes what was found for people.
func (n *nextNodes) table(w io.Writer) error {
	fmt.Fprintf(w, "%s: mean JCT %.0f s as recorded, %.0f s simulated again without another node (%+.1f %%)\n", n.Policy, n.Recorded, n.MeanJCT, 100*n.Error())
	if !n.Trusted {
		fmt.Fprintln(w, "Not to be trusted: the simulation differs from the recording by more than 5 %.")
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "NODE\tJCT SAVED (s)\tRANGE\tWAITING SAVED (GPU-h)\tRANGE\tBREAK-EVEN (per h)\tRANGE\tPRICE (per h)\tBY PRICES (s)\tOFF (%)")
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

func (n *nextNodes) row(w io.Writer, node *whatif.NextNode) {
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

// teams writes what each queue and user saves, where there are several.
func (n *nextNodes) teams(w io.Writer) error {
	if len(n.Nodes[0].Teams) < 2 {
		return nil
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "QUEUE\tUSER\tJOBS\tNODE\tJCT SAVED (s)\tWAITING SAVED (GPU-h)")
	for k := range n.Nodes[0].Teams {
		for i := range n.Nodes {
			team := &n.Nodes[i].Teams[k]
			fmt.Fprintf(t, "%s\t%s\t%d\t%s x %d\t%.0f\t%.1f\n", orDash(team.Queue), orDash(team.User), team.Jobs, n.Nodes[i].Type, n.Nodes[i].GPUs, team.JCT, team.Waiting)
		}
	}
	return t.Flush()
}

func orDash(name string) string {
	if name == "" {
		return "-"
	}
	return name
}

// notes says what the figures are.
func (n *nextNodes) notes() string {
	text := fmt.Sprintf("Savings are those of the run simulated again. Break-even: a GPU-hour by which jobs end sooner is worth %.2f.\n", n.Worth)
	if n.Orders > 1 {
		text += fmt.Sprintf("Ranges: nine times of ten, by the same jobs in %d orders.\n", n.Orders)
	}
	if n.Learned != "" {
		text += fmt.Sprintf("It is simulated from what it learned of its jobs, without its inputs: %s. That is rougher: docs/guide/ledger.md says how much.\n", n.Learned)
	}
	switch {
	case n.Nodes[0].Estimated == nil:
		text += "The plans of this policy have no prices by which savings could be estimated.\n"
	case n.off() > near:
		text += fmt.Sprintf("Shadow prices alone are off by up to %.0f %%: they leave out that jobs that end sooner make room for others.\n", 100*n.off())
	}
	return text
}

// near is how far an estimate may be from the simulation without a word.
const near = 0.2

// off returns the largest error of what prices alone say.
func (n *nextNodes) off() float64 {
	worst := 0.0
	for i := range n.Nodes {
		if e, saved := n.Nodes[i].Estimated, n.Nodes[i].Saved.JCT; e != nil && saved > 0 {
			worst = max(worst, math.Abs(*e/saved-1))
		}
	}
	return worst
}
