package simulate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy/registry"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/history"
	"github.com/oxgang/oxgang/simulate/run"
	"github.com/oxgang/oxgang/simulate/whatif"
)

type nextNode struct {
	file, format string
	orders       int
	worth        float64
}

type nextNodes struct {
	*history.NextNodeStudy
	Worth   float64        `json:"gpu_hour_worth"`
	Trust   *metrics.Trust `json:"trust"`                     // accuracy of the simulation
	Learned string         `json:"learned_because,omitempty"` // why models were learned
}

func planNextNodeCommand() *cobra.Command {
	var n nextNode
	formats := []string{"table", "json", "yaml"}
	cmd := &cobra.Command{
		Use:   "next-node JOURNAL",
		Short: "Estimate what one more node of each GPU type would have saved",
		Long: `Estimate, for a recorded run and each owned GPU type, what one more node would have saved: mean
completion time and GPU-hours of waiting, in total and by queue and user, and its break-even price
per hour. The run is simulated with and without the node, from the trace and profiles named in its
journal. If these are missing, as for live runs, it is simulated from what it learned of its jobs,
in the recorded order only and without a range.

The range contains the result for a further order of the same jobs nine times out of ten (blocks of
the trace's time are exchanged). If it contains 0, the order of jobs matters more than the node.

For the break-even price, the time by which each job ends sooner is multiplied by its requested GPUs
and by --gpu-hour-worth. BY PRICES is the estimate from the recorded shadow prices alone, with its error.`,
		Example: `  oxgang simulate --policy oxgang --out run/
  oxgang plan next-node run/oxgang.oxj`,
		Args: cli.OneArg("JOURNAL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			n.file = args[0]
			switch {
			case !slices.Contains(formats, n.format):
				return cli.Misused("output %q, want one of %s", n.format, strings.Join(formats, ", "))
			case n.orders < 1 || n.orders > history.MostOrders:
				return cli.Misused("--orders %d, want 1 to %d", n.orders, history.MostOrders)
			case !(n.worth >= 0) || math.IsInf(n.worth, 0):
				return cli.Misused("--gpu-hour-worth %v, want a price, or 0 for the mean price of the cluster", n.worth)
			}
			found, err := n.study(cmd.Context())
			if err != nil {
				return fmt.Errorf("%s: %w", n.file, err)
			}
			if n.format != "table" {
				return cli.Write(cmd.OutOrStdout(), n.format, found)
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
	f.IntVar(&n.orders, "orders", 8, fmt.Sprintf("orders of the jobs to simulate, 1 to %d; 1: the recorded one only, without a range", history.MostOrders))
	f.Float64Var(&n.worth, "gpu-hour-worth", 0, "value of ending a job of one GPU an hour sooner; 0: the cluster's mean price per GPU-hour")
	f.StringVarP(&n.format, "output", "o", "table", strings.Join(formats, ", "))
	cli.Complete(cmd, "output", formats)
	return cmd
}

func (n *nextNode) study(ctx context.Context) (*nextNodes, error) {
	var h journal.Header
	if err := n.read(ctx, func(j *journal.Reader) error { h = j.Header(); return nil }); err != nil {
		return nil, err
	}
	entry, err := registry.Find(h.Policy)
	if err != nil {
		return nil, err
	}
	if entry.Traits().Rents {
		return nil, fmt.Errorf("policy %s rents its nodes; use oxgang plan, which shows what more of them buy", h.Policy)
	}
	c, in, recorded, why := n.inputs(ctx, &h)
	if why != nil {
		return n.learned(ctx, &h, why)
	}
	s, err := history.NextNodes(ctx, in.Cluster, n.orders, runtime.GOMAXPROCS(0), func(ctx context.Context, nodes *cluster.Cluster, order int, o scheduler.Observer) (*metrics.Result, error) {
		run, err := run.SimulateVariant(ctx, c, in, h.Policy, nodes, order, o)
		if err != nil {
			return nil, err
		}
		return run.Result, nil
	})
	if err != nil {
		return nil, err
	}
	return n.judge(s, &h, recorded, in.Cluster)
}

func (n *nextNode) read(ctx context.Context, use func(*journal.Reader) error) error {
	j, f, err := cli.OpenJournal(ctx, n.file)
	if err != nil {
		return err
	}
	defer f.Close()
	return use(j)
}

func (n *nextNode) inputs(ctx context.Context, h *journal.Header) (c *config.Config, in *run.Inputs, recorded *run.Run, err error) {
	if !slices.ContainsFunc(h.Settings, func(s journal.Setting) bool { return s.Name == "cluster" }) {
		return nil, nil, nil, errors.New("the run was not a simulation")
	}
	if c, in, err = run.Origin(h, cli.FilesUntil(ctx)); err != nil {
		return nil, nil, nil, err
	}
	err = n.read(ctx, func(j *journal.Reader) (err error) {
		recorded, err = run.Recorded(j, c, in)
		return err
	})
	return c, in, recorded, err
}

func (n *nextNode) learned(ctx context.Context, h *journal.Header, why error) (*nextNodes, error) {
	again, err := run.Again(h, "", cli.FilesUntil(ctx))
	if err != nil {
		return nil, err
	}
	var recorded *run.Run
	if err := n.read(ctx, func(j *journal.Reader) (err error) { recorded, err = run.Recorded(j, nil, nil); return err }); err != nil {
		return nil, err
	}
	var s *history.NextNodeStudy
	err = n.read(ctx, func(j *journal.Reader) error {
		r, err := whatif.NewResimulator(j, whatif.Options{Fresh: again.Fresh, Scheduler: again.Scheduler})
		if err == nil {
			s, err = history.NextNodes(ctx, h.Cluster, 1, 1, history.Resimulate(r))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	found, err := n.judge(s, h, recorded, h.Cluster)
	if found != nil {
		found.Learned = why.Error()
	}
	return found, err
}

func (n *nextNode) judge(s *history.NextNodeStudy, h *journal.Header, recorded *run.Run, nodes *cluster.Cluster) (*nextNodes, error) {
	if len(s.Nodes) == 0 {
		return nil, errors.New("the cluster owns no nodes, so none can be added")
	}
	s.Policy, s.Recorded = h.Policy, recorded.Result.Summary.MeanJCT
	was := recorded.Result
	all := &nextNodes{NextNodeStudy: s, Worth: n.worth, Trust: metrics.Judge(was.Figures(), s.Figures, s.Jobs, max(0, was.Summary.Done-s.Jobs), h.Round.Seconds(), causes(recorded))}
	if all.Worth == 0 {
		all.Worth = meanPrice(nodes)
	}
	return all, nil
}

func causes(run *run.Run) []string {
	var all []string
	add := func(n int, format string) {
		if n > 0 {
			all = append(all, fmt.Sprintf(format, n))
		}
	}
	sum := &run.Result.Summary
	add(sum.Cancelled+sum.Failed, "jobs that were cancelled or failed: %d")
	add(sum.Active, "jobs that had not ended: %d")
	if run.Unfinished {
		all = append(all, "the recording was cut off")
	}
	return all
}

func meanPrice(c *cluster.Cluster) float64 {
	price, gpus := 0.0, 0.0
	for _, n := range c.Held().Nodes() {
		price += n.GPUPrice() * float64(n.Capacity.GPUs)
		gpus += float64(n.Capacity.GPUs)
	}
	return price / max(1, gpus)
}
