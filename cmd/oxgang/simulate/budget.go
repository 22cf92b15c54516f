package simulate

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/simulate/budget"
	"github.com/oxgang/oxgang/simulate/run"
)

// PlanCommand returns the command "oxgang plan".
func PlanCommand() *cobra.Command {
	var p planning
	var amount, html string
	var samples int
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Plan GPUs for a budget, or show what each budget buys",
		Long: `With --budget, plan the number and type of GPUs for each class of jobs and each epoch, to minimise
the mean completion time within a budget. If the budget falls between two such plans, only some jobs
of a class get the GPUs of the faster plan.

The model ignores start times of nodes (sim.start), that nodes are rented whole, and that overspending
is made up for later. So the plan is also simulated with policy boa, on copies of the trace whose
blocks of time are in another order. The printed range contains the mean of one more such copy nine
times out of ten. It does not cover periods with more or fewer jobs. If the price list has no limit on
nodes, 2 to 4 times what the budget buys is assumed.

Without --budget, show the minimum mean completion time for each budget, from the smallest feasible
to the largest useful one, as a table and a page with a chart. Each price list makes a curve. Beyond
the knee, 1 % more budget buys less than 1 %.
` + planAssumptions,
		Example: `  oxgang plan --budget 40
  oxgang plan --workload w.csv --profiles profiles --price-list on-demand.yaml --budget 2000/day
  oxgang plan --price-list on-demand.yaml --price-list spot.yaml -o csv`,
		Args: cli.NoCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if samples != 0 && (samples < 2 || samples > budget.MostSamples) {
				return cli.Misused("--samples %d, want 0, or 2 to %d", samples, budget.MostSamples)
			}
			if !cmd.Flags().Changed("budget") {
				return p.frontier(cmd, html)
			}
			return p.within(cmd, amount, samples)
		},
	}
	p.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&amount, "budget", "", "money, or GPU-hours without a price list: 40/hour, 2000/day, 60000/month; default: all budgets")
	f.IntVar(&samples, "samples", 8, fmt.Sprintf("reordered traces to simulate, 2 to %d; 0: none, without a range", budget.MostSamples))
	f.StringArrayVar(&p.prices, "price-list", nil, "price list (YAML), repeatable without --budget; without one, budgets are in GPUs")
	f.StringVar(&html, "report", "oxgang-frontier.html", "HTML page without --budget; empty: none")
	cmd.AddCommand(planNextNodeCommand(), cli.Renamed("budget", "plan"))
	return cmd
}

// within plans for a budget, and simulates the plan on the given number of reordered traces.
func (p *planning) within(cmd *cobra.Command, amount string, samples int) error {
	perHour, err := budget.ParseAmount(amount)
	if err != nil {
		return cli.Misused("--budget %w", err)
	}
	if len(p.prices) > 1 {
		return cli.Misused("--budget with %d price lists, want one", len(p.prices))
	}
	planners, err := p.planners(cmd)
	if err != nil {
		return err
	}
	plan, err := planners[0].Plan(perHour)
	if errors.Is(err, budget.ErrTooSmall) {
		return cli.Hinted(err, "oxgang plan without --budget shows what each budget buys")
	}
	if err != nil {
		return err
	}
	if err := p.simulate(cmd.Context(), planners[0], plan, samples); err != nil {
		return err
	}
	return plan.Write(cmd.OutOrStdout(), p.format)
}

func (p *planning) frontier(cmd *cobra.Command, html string) error {
	planners, err := p.planners(cmd)
	if err != nil {
		return err
	}
	var all []*budget.Frontier
	for _, planner := range planners {
		f, err := planner.Frontier()
		if err != nil {
			return err
		}
		all = append(all, f)
	}
	if html != "" {
		page := func(w io.Writer) error { return budget.Page(w, p.workloadName(), all) }
		if err := cli.Whole(html, page); err != nil {
			return err
		}
		fmt.Fprintf(p.stderr, "report: %s\n", html)
	}
	return budget.WriteFrontiers(cmd.OutOrStdout(), all, p.format)
}

// simulate returns no range for plans with goodputs from tables, because jobs cannot be simulated with them.
func (p *planning) simulate(ctx context.Context, from *budget.Planner, plan *budget.Plan, samples int) error {
	if samples == 0 || p.goodputs != "" {
		return nil
	}
	rented := &run.Rented{Offers: from.Prices.Rentable(), Budget: plan.Budget, Money: from.Prices.Currency != "", Widest: from.Widest}
	means, err := run.SampledMeans(ctx, p.config, p.inputs, rented, samples)
	if err != nil {
		return fmt.Errorf("simulate the plan: %w", err)
	}
	plan.Simulated = budget.Expect(means)
	return nil
}
