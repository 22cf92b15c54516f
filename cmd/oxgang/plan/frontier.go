package plan

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/simulate/budget"
)

func planFrontierCommand() *cobra.Command {
	var p planning
	var html string
	cmd := &cobra.Command{
		Use:   "frontier",
		Short: "Show what each budget buys, for one or several price lists",
		Long: `Show the minimum mean completion time for each budget, from the smallest feasible to the largest
useful one, as a table and a page with a chart. Each price list makes a curve. Beyond the knee,
1 % more budget buys less than 1 %.
` + planAssumptions,
		Example: `  oxgang plan frontier
  oxgang plan frontier --workload w.csv --price-list on-demand.yaml --price-list spot.yaml -o csv`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
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
		},
	}
	p.flags(cmd)
	f := cmd.Flags()
	f.StringArrayVar(&p.prices, "price-list", nil, "price list (YAML); repeat for more; without one, budgets are in GPUs")
	f.StringVar(&html, "report", "oxgang-frontier.html", "HTML page to write; empty: none")
	return cmd
}
