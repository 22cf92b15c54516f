package live

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/live/control"
	"github.com/oxgang/oxgang/live/status"
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
		Use:        "top", Short: "Show the use of this machine", Args: cli.NoArgs,
		Long: `Show the job in each slot of this machine, the cores and memory assigned to jobs, and the
policy's current price of a GPU. The formats json and yaml contain the whole status
(docs/status.schema.json), csv only the slots.`,
		Example: `  oxgang top --watch`,
	}
	cmd.RunE = s.asking(func(cmd *cobra.Command, c *control.Client, _ []string) error {
		if err := cli.CheckOutput(format, formats...); err != nil {
			return err
		}
		return cli.Show(cmd, watched, func(w io.Writer) error {
			now, err := c.Status(cmd.Context(), false)
			if err != nil {
				return err
			}
			switch format {
			case "table":
				now.WriteHead(w)
				fmt.Fprintln(w)
				return now.WriteNodes(w, status.Options{Width: cli.Columns(cmd.OutOrStdout())})
			case "csv":
				return cli.Write(w, format, now.Slots())
			}
			return cli.Write(w, format, now)
		})
	})
	s.add(cmd)
	f := cmd.Flags()
	f.BoolVar(&watched, "watch", false, "refresh every 2 s, until Ctrl-C")
	cli.Output(cmd, &format, formats...)
	return cmd
}
