package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/budget"
)

func planBudgetCommand() *cobra.Command {
	var p planning
	var amount, prices string
	cmd := &cobra.Command{
		Use:   "budget --budget AMOUNT",
		Short: "Plan the GPUs of every class of jobs for a budget",
		Long: `Plan for a budget how many GPUs, and of which type, the jobs of every class get in which
epochs, so that the mean time to completion is the least that the budget can buy. Where
it ends between two tables of widths, a share of a class' jobs goes by the faster one.
` + planAssumptions,
		Example: `  oxgang plan budget --budget 40
  oxgang plan budget --workload w.csv --profiles profiles --price-list on-demand.yaml --budget 2000/day`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			perHour, err := budget.ParseAmount(amount)
			if err != nil {
				return misused("--budget %w", err)
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
				return hinted(err, "oxgang plan frontier shows what each budget buys")
			}
			if err != nil {
				return err
			}
			return plan.Write(cmd.OutOrStdout(), p.format)
		},
	}
	p.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&amount, "budget", "", "money, or GPU-hours without a price list, as 40/hour, 2000/day, 60000/month; 40 is per hour")
	f.StringVar(&prices, "price-list", "", "price list (YAML); empty: budgets are in GPUs")
	return cmd
}
