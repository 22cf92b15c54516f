package machine

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
		Use:        "top", Short: "Show how this machine is used", Args: cli.NoArgs,
		Long: `Show which job has which slot of this machine, the cores and the memory that jobs
were promised, and what the policy thinks a GPU is worth now. As csv it has the slots only, as json and yaml the whole
status, as docs/status.schema.json describes it.`,
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
				return now.WriteNodes(w, status.Options{})
			case "csv":
				return cli.Write(w, format, now.Slots())
			}
			return cli.Write(w, format, now)
		})
	})
	s.add(cmd)
	f := cmd.Flags()
	f.BoolVar(&watched, "watch", false, "show it anew every 2 s, until Ctrl-C")
	cli.Output(cmd, &format, formats...)
	return cmd
}
