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
		Short: "Plan the GPUs of every class of jobs for a budget",
		Long: `Plan for a budget how many GPUs, and of which type, the jobs of every class get in which
epochs, so that the mean time to completion is the least that the budget can buy. Where
it ends between two tables of widths, a share of a class' jobs goes by the faster one.

The model leaves out that nodes take time to start (sim.start), are rented whole, and that what
was spent too much is saved. So the plan is carried out, by policy boa, on the same jobs in other orders:
blocks of the trace's time change places. The range is where the mean of one more order would be,
nine times of ten. Where the price list does not say how many nodes can be rented at once, that
is taken to be 2 to 4 times what the budget buys. A time with more or less to do is none of these.
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
	f.StringVar(&amount, "budget", "", "money, or GPU-hours without a price list, as 40/hour, 2000/day, 60000/month; 40 is per hour")
	f.IntVar(&samples, "samples", 8, fmt.Sprintf("orders of the trace that are simulated, 2 to %d; 0: none, and no range is stated", budget.MostSamples))
	f.StringVar(&prices, "price-list", "", "price list (YAML); empty: budgets are in GPUs")
	return cmd
}

// simulate finds out the range of the mean when a plan is carried out. Jobs cannot be simulated with
// goodputs that were measured elsewhere: a plan with such goodputs has no range.
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
