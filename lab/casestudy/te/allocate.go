package te

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/oxgang/oxgang/lab/casestudy"
	"github.com/oxgang/oxgang/opt/lp"
)

// An Allocator computes how much flow each path carries. It may use results of earlier rounds with the same paths.
type Allocator interface {
	Allocate(ctx context.Context, in *Instance) (*Allocation, error)
}

// An Allocation has the flows that a method computed.
type Allocation struct {
	// Flow is by path. It may exceed limits slightly: see Instance.ScaleBack and TopUp.
	Flow []float64
	// Bound, if not nil, computes a proven upper bound on the total flow. Call it before the next Allocate.
	Bound      func() float64
	Parts      []time.Duration // processor time of each part of pop:K
	Iterations int             // of all parts
	Limited    bool            // a solver stopped at its iteration limit
}

// Whole is the method that maximises the flow of all demands in one linear program. With an exact solver it is LP-All;
// with a solver that starts from its last solution, COpter. Source: thesis §5.2.2, method (a); §5.1.2, "Applying
// COpter".
type Whole struct {
	Solver  lp.Solver
	program *Program
	paths   *Paths
}

// Allocate implements Allocator.
func (w *Whole) Allocate(ctx context.Context, in *Instance) (*Allocation, error) {
	var err error
	if w.paths != in.Paths {
		w.paths = in.Paths
		w.program, err = Problem(in.Topology, in.Demands, in.Paths, 1)
	} else {
		_, err = w.program.SetDemands(in.Demands)
	}
	if err != nil {
		return nil, err
	}
	return w.program.solve(ctx, w.Solver)
}

func (g *Program) solve(ctx context.Context, s lp.Solver) (*Allocation, error) {
	solution, err := s.Solve(ctx, g.LP)
	if err != nil {
		return nil, fmt.Errorf("te: %w", err)
	}
	if solution.Status == lp.Infeasible || solution.Status == lp.Unbounded {
		return nil, fmt.Errorf("te: solver status %s, although the problem has an optimum", solution.Status)
	}
	a := &Allocation{
		Flow: g.Flow(solution.X), Iterations: solution.Iterations, Limited: solution.Status != lp.Optimal,
	}
	if solution.Y != nil {
		a.Bound = func() float64 { return -lp.Bound(g.LP, solution.Y) }
	}
	return a, nil
}

// Top is the method that sends each small demand over its shortest path, and then maximises the flow of the large
// demands in the remaining capacity. Source: thesis §5.2.2, method (b), LP-Top ("demand pinning"). Deviation: pinned
// demands are served largest first, because the thesis does not cover demands that do not fit.
type Top struct {
	Solver lp.Solver
	Share  float64 // of the demands that count as large; the thesis has 0.1
	// LPFirst solves the large demands first, and gives the small ones what remains.
	LPFirst bool
}

// Allocate implements Allocator.
func (o *Top) Allocate(ctx context.Context, in *Instance) (*Allocation, error) {
	order := heaviest(in.Demands)
	n := min(len(order), int(math.Ceil(o.Share*float64(len(order)))))
	top, rest := slices.Clone(order[:n]), order[n:]
	slices.Sort(top)
	flow := make([]float64, in.Paths.Len())
	free := in.free(flow)
	if !o.LPFirst {
		in.pin(rest, flow, free)
	}
	a, err := in.pick(top).solve(ctx, o.Solver, free)
	if err != nil {
		return nil, err
	}
	in.add(flow, top, a.Flow)
	if o.LPFirst {
		in.ScaleBack(flow)
		in.pin(rest, flow, in.free(flow))
	}
	a.Flow, a.Bound = flow, nil
	return a, nil
}

func (in *Instance) pin(demands []int, flow []float64, free capacities) {
	for _, j := range demands {
		if p := int(in.Paths.First[j]); p < int(in.Paths.First[j+1]) {
			flow[p] = free.take(in.Paths.Of(p), in.Demands[j].Volume)
		}
	}
}

func (in *Instance) solve(ctx context.Context, s lp.Solver, c capacities) (*Allocation, error) {
	g, err := Problem(&Topology{Nodes: in.Topology.Nodes, Links: c.links(in.Topology.Links)}, in.Demands, in.Paths, 1)
	if err != nil {
		return nil, err
	}
	return g.solve(ctx, s)
}

func (c capacities) links(links []Link) []Link {
	links = slices.Clone(links)
	for e := range links {
		links[e].Capacity = c[e]
	}
	return links
}

func heaviest(demands []Demand) []int {
	order := make([]int, len(demands))
	for j := range order {
		order[j] = j
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(demands[b].Volume, demands[a].Volume), a-b)
	})
	return order
}

// Heaviest returns the n largest demands, largest first.
func Heaviest(demands []Demand, n int) []Demand {
	order := heaviest(demands)
	order = order[:min(n, len(order))]
	slices.Sort(order)
	kept := make([]Demand, len(order))
	for i, j := range order {
		kept[i] = demands[j]
	}
	return kept
}

func (in *Instance) pick(demands []int) *Instance {
	part := &Instance{Topology: in.Topology, Paths: in.Paths.Pick(demands), Demands: make([]Demand, len(demands))}
	for i, j := range demands {
		part.Demands[i] = in.Demands[j]
	}
	return part
}

func (in *Instance) add(flow []float64, picked []int, part []float64) {
	for _, j := range picked {
		for p := in.Paths.First[j]; p < in.Paths.First[j+1]; p++ {
			flow[p] += part[0]
			part = part[1:]
		}
	}
}

// Parts is the method POP-k. Each of k parts has all links, at 1/k of their capacity, and a random k-th of the demands,
// drawn again in every round. Large demands are first split into four. The parts are solved one after another. Source:
// thesis §5.2.2, method (c).
type Parts struct {
	Solver lp.Solver
	K      int
	Seed   uint64
	// Large is the share of demands that are split. POP splits a quarter if a few demands dominate.
	Large float64
	Clock casestudy.Clock // may be nil
	round uint64
}

const ways = 4

// Allocate implements Allocator.
func (o *Parts) Allocate(ctx context.Context, in *Instance) (*Allocation, error) {
	volumes := make([]float64, len(in.Demands))
	for j, d := range in.Demands {
		volumes[j] = d.Volume
	}
	pieces := casestudy.SplitClients(volumes, threshold(volumes, o.Large), ways)
	o.round++
	all := &Allocation{Flow: make([]float64, in.Paths.Len())}
	for _, members := range casestudy.Split(len(pieces), o.K, o.Seed+o.round) {
		before := o.Clock.Read()
		if err := o.part(ctx, in, pieces, members, all); err != nil {
			return nil, err
		}
		all.Parts = append(all.Parts, o.Clock.Read()-before)
	}
	return all, nil
}

func (o *Parts) part(ctx context.Context, in *Instance, pieces []casestudy.Piece, members []int, all *Allocation) error {
	demands := make([]int, len(members))
	for i, m := range members {
		demands[i] = pieces[m].Of
	}
	part := in.pick(demands)
	for i, m := range members {
		part.Demands[i].Volume *= pieces[m].Share
	}
	g, err := Problem(part.Topology, part.Demands, part.Paths, 1/float64(o.K))
	if err != nil {
		return err
	}
	a, err := g.solve(ctx, o.Solver)
	if err != nil {
		return err
	}
	in.add(all.Flow, demands, a.Flow)
	all.Iterations += a.Iterations
	all.Limited = all.Limited || a.Limited
	return nil
}

func threshold(volumes []float64, share float64) float64 {
	ascending := slices.Sorted(slices.Values(volumes))
	i := len(ascending) - 1 - int(share*float64(len(ascending)))
	if i < 0 {
		return 0
	}
	return ascending[i]
}
