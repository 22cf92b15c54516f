package run

import (
	"context"
	"errors"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/workload/generate"
)

const orderBlocks = 24

// SimulateVariant is Simulate on other nodes. If order is not 0, it also shuffles the arrivals (generate.Shuffle); each
// number gives another order. All jobs must then be measured.
func SimulateVariant(ctx context.Context, c *config.Config, in *Inputs, name string, nodes *cluster.Cluster, order int, obs ...scheduler.Observer) (*Run, error) {
	if order != 0 && !c.Window.IsZero() {
		return nil, errors.New("other orders of the arrivals cannot be combined with a window of jobs; want 1 order")
	}
	of := *in
	of.Cluster = nodes
	if order != 0 {
		of.Arrivals = generate.Shuffle(in.Arrivals, orderBlocks, c.Sim.Seed+uint64(order))
	}
	return Simulate(ctx, c, &of, name, obs...)
}
