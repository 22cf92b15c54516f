package simulate

import (
	"context"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/trace/slurm"
)

// slurmNodes sets the cluster to the nodes in a file, unless the cluster was named.
func slurmNodes(ctx context.Context, c *config.Config, file string) error {
	if file == "" {
		return nil
	}
	if c.IsSet("cluster") {
		return cli.Misused("--slurm-nodes %s and a cluster, want one of them", file)
	}
	f, err := cli.Open(ctx, file)
	if err != nil {
		return err
	}
	defer f.Close()
	nodes, err := slurm.Nodes(f, file)
	if err != nil {
		return err
	}
	return c.Set("cluster", nodes, file)
}
