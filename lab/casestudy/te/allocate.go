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
	// flow is by path. It may exceed limits slightly: see Instance.scaleBack and topUp.
	flow []float64
	// bound, if not nil, computes a proven upper bound on the total flow. Call it before the next Allocate.
	bound      func() float64
	parts      []time.Duration // processor time of each part of pop:K
	iterations int             // of all parts
	limited    bool            // a solver stopped at its iteration limit
}

// whole is the method that maximises the flow of all demands in one linear program. With an exact solver it is LP-All;
// with a solver that starts from its last solution, COpter. Source: thesis §5.2.2, method (a); §5.1.2, "Applying
// COpter".
type whole struct {
	Solver  lp.Solver
	program *program
	paths   *paths
}

// Allocate implements Allocator.
func (w *whole) Allocate(ctx context.Context, in *Instance) (*Allocation, error) {
	var err error
	if w.paths != in.paths {
		w.paths = in.paths
		w.program, err = newProgram(in.topology, in.demands, in.paths, 1)
	} else {
		_, err = w.program.SetDemands(in.demands)
	}
	if err != nil {
		return nil, err
	}
	return w.program.solve(ctx, w.Solver)
}

func (g *program) solve(ctx context.Context, s lp.Solver) (*Allocation, error) {
	solution, err := s.Solve(ctx, g.LP)
	if err != nil {
		return nil, fmt.Errorf("te: %w", err)
	}
	if solution.Status == lp.Infeasible || solution.Status == lp.Unbounded {
		return nil, fmt.Errorf("te: solver status %s, although the problem has an optimum", solution.Status)
	}
	a := &Allocation{
		flow: g.Flow(solution.X), iterations: solution.Iterations, limited: solution.Status != lp.Optimal,
	}
	if solution.Y != nil {
		a.bound = func() float64 { return -lp.Bound(g.LP, solution.Y) }
	}
	return a, nil
}

// top is the method that sends each small demand over its shortest path, and then maximises the flow of the large
// demands in the remaining capacity. Source: thesis §5.2.2, method (b), LP-Top ("demand pinning"). Deviation: pinned
// demands are served largest first, because the thesis does not cover demands that do not fit.
type top struct {
	Solver lp.Solver
	Share  float64 // of the demands that count as large; the thesis has 0.1
	// LPFirst solves the large demands first, and gives the small ones what remains.
	LPFirst bool
}

// Allocate implements Allocator.
func (o *top) Allocate(ctx context.Context, in *Instance) (*Allocation, error) {
	order := heaviest(in.demands)
	n := min(len(order), int(math.Ceil(o.Share*float64(len(order)))))
	top, rest := slices.Clone(order[:n]), order[n:]
	slices.Sort(top)
	flow := make([]float64, in.paths.Len())
	free := in.free(flow)
	if !o.LPFirst {
		in.pin(rest, flow, free)
	}
	a, err := in.pick(top).solve(ctx, o.Solver, free)
	if err != nil {
		return nil, err
	}
	in.add(flow, top, a.flow)
	if o.LPFirst {
		in.scaleBack(flow)
		in.pin(rest, flow, in.free(flow))
	}
	a.flow, a.bound = flow, nil
	return a, nil
}

func (in *Instance) pin(demands []int, flow []float64, free capacities) {
	for _, j := range demands {
		if p := int(in.paths.First[j]); p < int(in.paths.First[j+1]) {
			flow[p] = free.take(in.paths.Of(p), in.demands[j].volume)
		}
	}
}

func (in *Instance) solve(ctx context.Context, s lp.Solver, c capacities) (*Allocation, error) {
	g, err := newProgram(&Topology{nodes: in.topology.nodes, links: c.links(in.topology.links)}, in.demands, in.paths, 1)
	if err != nil {
		return nil, err
	}
	return g.solve(ctx, s)
}

func (c capacities) links(links []link) []link {
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
		return cmp.Or(cmp.Compare(demands[b].volume, demands[a].volume), a-b)
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
	part := &Instance{topology: in.topology, paths: in.paths.Pick(demands), demands: make([]Demand, len(demands))}
	for i, j := range demands {
		part.demands[i] = in.demands[j]
	}
	return part
}

func (in *Instance) add(flow []float64, picked []int, part []float64) {
	for _, j := range picked {
		for p := in.paths.First[j]; p < in.paths.First[j+1]; p++ {
			flow[p] += part[0]
			part = part[1:]
		}
	}
}

// parts is the method POP-k. Each of k parts has all links, at 1/k of their capacity, and a random k-th of the demands,
// drawn again in every round. Large demands are first split into four. The parts are solved one after another. Source:
// thesis §5.2.2, method (c).
type parts struct {
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
func (o *parts) Allocate(ctx context.Context, in *Instance) (*Allocation, error) {
	volumes := make([]float64, len(in.demands))
	for j, d := range in.demands {
		volumes[j] = d.volume
	}
	pieces := casestudy.SplitClients(volumes, threshold(volumes, o.Large), ways)
	o.round++
	all := &Allocation{flow: make([]float64, in.paths.Len())}
	for _, members := range casestudy.Split(len(pieces), o.K, o.Seed+o.round) {
		before := o.Clock.Read()
		if err := o.part(ctx, in, pieces, members, all); err != nil {
			return nil, err
		}
		all.parts = append(all.parts, o.Clock.Read()-before)
	}
	return all, nil
}

func (o *parts) part(ctx context.Context, in *Instance, pieces []casestudy.Piece, members []int, all *Allocation) error {
	demands := make([]int, len(members))
	for i, m := range members {
		demands[i] = pieces[m].Of
	}
	part := in.pick(demands)
	for i, m := range members {
		part.demands[i].volume *= pieces[m].Share
	}
	g, err := newProgram(part.topology, part.demands, part.paths, 1/float64(o.K))
	if err != nil {
		return err
	}
	a, err := g.solve(ctx, o.Solver)
	if err != nil {
		return err
	}
	in.add(all.flow, demands, a.flow)
	all.iterations += a.iterations
	all.limited = all.limited || a.limited
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
