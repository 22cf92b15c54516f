package machine

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/live/control"
)

// TopCommand returns the command "oxgang top".
func TopCommand() *cobra.Command {
	var (
		s       liveState
		watched bool
		format  string
	)
	cmd := &cobra.Command{
		SuggestFor: []string{"status", "usage", "nodes", "gpus", "sinfo"},
		Use:        "top", Short: "Show how this machine is used", Args: cli.NoArgs,
		Long: `Show which job has which slot of this machine, the cores and the memory that jobs
were promised, and what the policy thinks a GPU is worth now. As csv it has only the slots.`,
		Example: `  oxgang top --watch`,
	}
	cmd.RunE = s.asking(func(cmd *cobra.Command, c *control.Client, _ []string) error {
		if err := cli.CheckOutput(format, formats...); err != nil {
			return err
		}
		return cli.Show(cmd, watched, func(w io.Writer) error {
			t, err := c.Top(cmd.Context())
			if err != nil {
				return err
			}
			switch format {
			case "table":
				return topTable(w, &t)
			case "csv":
				return cli.Write(w, format, t.Slots)
			}
			return cli.Write(w, format, t)
		})
	})
	s.add(cmd)
	f := cmd.Flags()
	f.BoolVar(&watched, "watch", false, "show it anew every 2 s, until Ctrl-C")
	cli.Output(cmd, &format, formats...)
	return cmd
}

// topTable writes the state of the machine: a line of totals, a problem that concerns all jobs, and
// a row for each slot.
func topTable(w io.Writer, t *control.Top) error {
	head := fmt.Sprintf("%s: policy %s, round %d, %d running, %d waiting", t.Machine, t.Policy, t.Round, t.Running, t.Waiting)
	fmt.Fprintf(w, "%s\n%s\n", printable.Line(head), printable.Line(totals(t)))
	if t.Banner != "" {
		fmt.Fprintln(w, printable.Line("warning: "+t.Banner))
	}
	fmt.Fprintln(w)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SLOT\tTYPE\tDEVICE\tJOB\tRANK\tSTART")
	for i := range t.Slots {
		if _, err := fmt.Fprintln(table, slotRow(&t.Slots[i])); err != nil {
			return err
		}
	}
	return table.Flush()
}

// slotRow returns a row of the table: START counts the starts of the job from 1.
func slotRow(s *control.SlotView) string {
	device, user := s.Visible, "-\t-\t-"
	if device == "" {
		device = "-"
	}
	if s.Job != "" {
		user = fmt.Sprintf("%s\t%d\t%d", printable.Line(string(s.Job)), s.Rank, s.Generation)
	}
	return fmt.Sprintf("%d\t%s\t%s\t%s", s.Index, printable.Line(string(s.Type)), printable.Line(device), user)
}

// totals returns what is used of what there is: "slots 3 of 4, cores 6 of 16".
func totals(t *control.Top) string {
	used := 0
	for i := range t.Slots {
		if t.Slots[i].Job != "" {
			used++
		}
	}
	parts := []string{fmt.Sprintf("slots %d of %d", used, len(t.Slots))}
	if t.CPUs.Total > 0 {
		parts = append(parts, fmt.Sprintf("cores %s of %s", tenth(t.CPUs.Used), tenth(t.CPUs.Total)))
	}
	if t.Memory.Total > 0 {
		parts = append(parts, fmt.Sprintf("memory %s of %s GiB", tenth(t.Memory.Used/(1<<30)), tenth(t.Memory.Total/(1<<30))))
	}
	for _, p := range t.Prices {
		parts = append(parts, fmt.Sprintf("price of %s %.3g", p.Resource, p.Price))
	}
	return strings.Join(parts, ", ")
}

// tenth returns a number with at most one digit after the point.
func tenth(x float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(x, 'f', 1, 64), ".0")
}
