package simulate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/trace/slurm"
)

const month = 30 * 24 * time.Hour

func askSlurm(ctx context.Context, since time.Duration) ([]byte, error) {
	if since == 0 {
		since = month
	}
	from := fmt.Sprintf("now-%dseconds", int(since.Seconds()))
	return slurmOutput(ctx, "sacct", "-P", "-a", "-X", "-D", "-S", from, "-o", slurm.Columns)
}

func askNodes(ctx context.Context, notes io.Writer) (string, error) {
	name, args, _ := strings.Cut(slurm.NodesCommand, " ")
	text, err := slurmOutput(ctx, name, strings.Fields(args)...)
	if err != nil {
		return "", err
	}
	noteUnusable(notes, text)
	if err := noteReservations(ctx, notes); err != nil {
		return "", err
	}
	return slurm.Nodes(bytes.NewReader(text), slurm.NodesCommand, notes)
}

func noteUnusable(notes io.Writer, text []byte) {
	nodes, err := client.ParseNodesText(text)
	if err != nil {
		fmt.Fprintf(notes, "  unknown which nodes are down: %v\n", err)
		return
	}
	var down []string
	gpus := 0
	for i := range nodes {
		if n := &nodes[i]; n.GPUs.Total() > 0 && !n.Usable() {
			down, gpus = append(down, n.Name), gpus+n.GPUs.Total()
		}
	}
	if len(down) > 0 {
		fmt.Fprintf(notes, "  nodes that are down or drained, simulated as available: %d with %d GPUs (%s)\n", len(down), gpus, cli.Few(down))
	}
}

func noteReservations(ctx context.Context, notes io.Writer) error {
	all, err := (&client.Client{Run: slurmRunner}).Reservations(ctx)
	if err != nil {
		return err
	}
	for i := range all {
		v := &all[i]
		fmt.Fprintf(notes, "  reservation %s of %d nodes (%s) from %s to %s, not simulated\n",
			v.Name, len(v.Nodes), cli.Few(v.Nodes), v.Start.Format(time.RFC3339), v.End.Format(time.RFC3339))
	}
	return nil
}

func slurmOutput(ctx context.Context, name string, args ...string) ([]byte, error) {
	return slurmRunner(ctx, client.Command{Name: name, Args: args})
}

func slurmRunner(ctx context.Context, c client.Command) ([]byte, error) {
	out, err := client.Exec(ctx, c)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, client.ErrNoCommand):
		return nil, cli.Hinted(err, "run this on a login node, or pass a file exported there with: "+slurm.Export)
	}
	return out, err
}

func slurmNodes(ctx context.Context, c *config.Config, file string, notes io.Writer) error {
	if file == "" {
		return nil
	}
	if c.IsSet("cluster") {
		return cli.Misused("use either --slurm-nodes %s or a cluster", file)
	}
	f, err := cli.Open(ctx, file)
	if err != nil {
		return err
	}
	defer f.Close()
	nodes, err := slurm.Nodes(f, file, notes)
	if err != nil {
		return err
	}
	return c.Set("cluster", nodes, file)
}
