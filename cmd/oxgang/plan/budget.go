package plan

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/simulate/budget"
	"github.com/oxgang/oxgang/simulate/run"
)

func planBudgetCommand() *cobra.Command {
	var p planning
	var amount, prices string
	var samples int
	cmd := &cobra.Command{
		Use:   "budget --budget AMOUNT",
		Short: "Plan the GPUs of each class of jobs for a budget",
		Long: `Plan the number and type of GPUs for each class of jobs and each epoch, to minimise the mean
completion time within a budget. If the budget falls between two solutions, some jobs of a class
use the faster one.

The model ignores start times of nodes (sim.start), whole-node rents and saving of overspending.
So the plan is also simulated, with policy boa, on reordered traces: blocks of time are exchanged.
The range contains the mean of a further order nine times out of ten. It does not cover periods
with more or fewer jobs. If the price list has no limit on nodes, 2 to 4 times what the budget buys
is assumed.
` + planAssumptions,
		Example: `  oxgang plan budget --budget 40
  oxgang plan budget --workload w.csv --profiles profiles --price-list on-demand.yaml --budget 2000/day`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if samples != 0 && (samples < 2 || samples > budget.MostSamples) {
				return cli.Misused("--samples %d, want 0, or 2 to %d", samples, budget.MostSamples)
			}
			perHour, err := budget.ParseAmount(amount)
			if err != nil {
				return cli.Misused("--budget %w", err)
			}
			if prices != "" {
				p.prices = []string{prices}
			}
			planners, err := p.planners(cmd)
			if err != nil {
				return err
			}
			plan, err := planners[0].Plan(perHour)
			if errors.Is(err, budget.ErrTooSmall) {
				return cli.Hinted(err, "oxgang plan frontier shows what each budget buys")
			}
			if err != nil {
				return err
			}
			if err := p.simulate(cmd.Context(), planners[0], plan, samples); err != nil {
				return err
			}
			return plan.Write(cmd.OutOrStdout(), p.format)
		},
	}
	p.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&amount, "budget", "", "money, or GPU-hours without a price list: 40/hour, 2000/day, 60000/month; 40 means per hour")
	f.IntVar(&samples, "samples", 8, fmt.Sprintf("reordered traces to simulate, 2 to %d; 0: none, without a range", budget.MostSamples))
	f.StringVar(&prices, "price-list", "", "price list (YAML); without one, budgets are in GPUs")
	return cmd
}

// simulate estimates the range of the mean when the plan is carried out. Plans with goodputs from tables have no
// range, because jobs cannot be simulated with them.
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
