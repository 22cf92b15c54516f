package run

import (
	"context"
	"fmt"
	"math"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/perf/estimate"
	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/workload/generate"
)

// A Rented states which nodes may be rented, and within which budget.
type Rented struct {
	Offers []cluster.Offer
	Budget float64 // per hour
	Money  bool    // the budget is in money; else in GPU-hours
	Widest int     // most GPUs of a job
}

// sampleBlocks is the number of shuffled blocks: 2 hours each of newTrace, longer than its bursts.
const sampleBlocks = 24

// SampledMeans simulates n runs of policy boa within a budget, each with another order of arrivals, and returns their
// mean completion times in seconds. As in a plan, the policy has exact data about jobs. If an offer does not limit its
// nodes, each run has another limit, from 2 to 4 times what the budget buys.
func SampledMeans(ctx context.Context, c *config.Config, in *Inputs, r *Rented, n int) ([]float64, error) {
	own := r.config(c)
	means := make([]float64, n)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for k := range n {
		g.Go(func() error {
			nodes, err := r.nodes(fewest + (most-fewest)*float64(k)/float64(max(1, n-1)))
			if err != nil {
				return err
			}
			sample := *in
			sample.Cluster, sample.Arrivals = nodes, generate.Shuffle(in.Arrivals, sampleBlocks, c.Sim.Seed+uint64(k))
			run, err := Simulate(ctx, own, &sample, "boa")
			if err != nil {
				return err
			}
			means[k] = run.Result.Summary.MeanJCT
			return ctx.Err()
		})
	}
	return means, g.Wait()
}

func (r *Rented) config(c *config.Config) *config.Config {
	own := *c
	own.Policies, own.Estimate, own.Classes, own.Horizon = []string{"boa"}, estimate.Oracle.String(), config.Known, 0
	own.Settings = []string{fmt.Sprintf("budget=%v", r.Budget), fmt.Sprintf("widest=%d", r.Widest)}
	if r.Money {
		own.Settings = append(own.Settings, "unit=money")
	}
	return &own
}

// Limits on rented nodes if their number is unknown, in multiples of what the budget buys on
// average. A budget holds over a week, so more can be rented for a while.
const (
	fewest = 2.0
	most   = 4.0
)

func (r *Rented) nodes(times float64) (*cluster.Cluster, error) {
	var all []cluster.Node
	for i := range r.Offers {
		o := &r.Offers[i]
		price := 1.0
		if r.Money {
			price = o.Node.GPUPrice()
		}
		gpus := math.Max(times*r.Budget/price, float64(r.Widest))
		nodes := min(float64(o.Most), math.Ceil(gpus/float64(o.Node.Capacity.GPUs)))
		for k := range int(nodes) {
			n := o.Node
			n.ID = cluster.NodeID(fmt.Sprintf("%s-%d", o.Group, k))
			all = append(all, n)
		}
	}
	nodes, err := cluster.New(all)
	if err != nil {
		return nil, fmt.Errorf("nodes for rent: %w", err)
	}
	return nodes, nil
}
