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
	"github.com/oxgang/oxgang/opt/pop"
)

// An Allocator is a method: it says what flow each path carries. It may keep
// what it learned from earlier rounds of the same topology and paths.
type Allocator interface {
	Allocate(ctx context.Context, in *Instance) (*Allocation, error)
}

// An Allocation is a method's answer.
type Allocation struct {
	// Flow by path, as it was solved: it may violate limits by the solver's
	// tolerance. Instance.ScaleBack and TopUp mend that.
	Flow []float64
	// Bound returns what no feasible flow of this round exceeds, proven by the
	// solver's duals and not by its word. Nil says nothing. It costs some passes
	// over the program, and holds until the next Allocate.
	Bound      func() float64
	Parts      []time.Duration // processor time of each part of Parts, by part
	Iterations int             // of the solver, in all parts together
	Limited    bool            // a solver stopped at a limit
}

// Whole gives the whole program to a solver: LP-All if that is exact, COpter if
// it starts from where it was. Between rounds only the demands' right-hand sides
// change. Source: thesis §5.2.2, method (a); §5.1.2, "Applying COpter".
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

// solve returns the flow by path, and the bound, of a solver.
func (g *Program) solve(ctx context.Context, s lp.Solver) (*Allocation, error) {
	solution, err := s.Solve(ctx, g.LP)
	if err != nil {
		return nil, fmt.Errorf("te: %w", err)
	}
	if solution.Status == lp.Infeasible || solution.Status == lp.Unbounded {
		return nil, fmt.Errorf("te: solver says %s of a problem that has an optimum", solution.Status)
	}
	a := &Allocation{
		Flow: g.Flow(solution.X), Iterations: solution.Iterations, Limited: solution.Status != lp.Optimal,
	}
	if solution.Y != nil {
		a.Bound = func() float64 { return -lp.Bound(g.LP, solution.Y) }
	}
	return a, nil
}

// Top pins all but the largest demands to their shortest paths, the largest of
// them first, as far as there is room, and then solves the program of the largest
// over what is left of the links. Source: thesis §5.2.2, method (b), LP-Top
// ("demand pinning").
// Deviation: the largest first of those that are pinned, because the thesis does
// not say what a demand gets that does not fit.
type Top struct {
	Solver lp.Solver
	Share  float64 // of the demands, by number, that are solved; the thesis has 0.1
	// LPFirst solves the largest first, and pins the others to what is left.
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

// pin gives demands what fits of them on their shortest paths.
func (in *Instance) pin(demands []int, flow []float64, free capacities) {
	for _, j := range demands {
		if p := int(in.Paths.First[j]); p < int(in.Paths.First[j+1]) {
			flow[p] = free.take(in.Paths.Of(p), in.Demands[j].Volume)
		}
	}
}

// solve builds and solves the program of a round over other capacities than the
// links have.
func (in *Instance) solve(ctx context.Context, s lp.Solver, c capacities) (*Allocation, error) {
	g, err := Problem(&Topology{Nodes: in.Topology.Nodes, Links: c.links(in.Topology.Links)}, in.Demands, in.Paths, 1)
	if err != nil {
		return nil, err
	}
	return g.solve(ctx, s)
}

// links returns the links with these capacities.
func (c capacities) links(links []Link) []Link {
	links = slices.Clone(links)
	for e := range links {
		links[e].Capacity = c[e]
	}
	return links
}

// heaviest returns the demands' indices, largest volume first.
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

// Heaviest returns the n largest demands, in the order they stand in.
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

// pick returns the round of some of the demands alone.
func (in *Instance) pick(demands []int) *Instance {
	part := &Instance{Topology: in.Topology, Paths: in.Paths.Pick(demands), Demands: make([]Demand, len(demands))}
	for i, j := range demands {
		part.Demands[i] = in.Demands[j]
	}
	return part
}

// add adds the flow of demands that were picked to the flow of all.
func (in *Instance) add(flow []float64, picked []int, part []float64) {
	for _, j := range picked {
		for p := in.Paths.First[j]; p < in.Paths.First[j+1]; p++ {
			flow[p] += part[0]
			part = part[1:]
		}
	}
}

// Parts is POP-k: every part has all links with a k-th of their capacity, and a
// random k-th of the demands, of which large ones are first split into four of a
// quarter each. The parts are new every round, and solved one after another.
// Source: thesis §5.2.2, method (c).
type Parts struct {
	Solver lp.Solver
	K      int
	Seed   uint64
	// Large is the share of the demands, by number, that are split. The thesis
	// does not say which are large; a quarter adds 75 % of pieces, POP's setting
	// for demands of which few dominate.
	Large float64
	Clock casestudy.Clock // times the parts; may be nil
	round uint64
}

// ways is the number of pieces of a large demand.
const ways = 4

// Allocate implements Allocator.
func (o *Parts) Allocate(ctx context.Context, in *Instance) (*Allocation, error) {
	volumes := make([]float64, len(in.Demands))
	for j, d := range in.Demands {
		volumes[j] = d.Volume
	}
	pieces := pop.SplitClients(volumes, threshold(volumes, o.Large), ways)
	o.round++
	all := &Allocation{Flow: make([]float64, in.Paths.Len())}
	for _, members := range pop.Split(len(pieces), o.K, nil, o.Seed+o.round) {
		before := o.Clock.Read()
		if err := o.part(ctx, in, pieces, members, all); err != nil {
			return nil, err
		}
		all.Parts = append(all.Parts, o.Clock.Read()-before)
	}
	return all, nil
}

// part solves one part and adds its flow to that of all.
func (o *Parts) part(ctx context.Context, in *Instance, pieces []pop.Piece, members []int, all *Allocation) error {
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

// threshold returns what a share of the volumes, by number, are above.
func threshold(volumes []float64, share float64) float64 {
	ascending := slices.Sorted(slices.Values(volumes))
	i := len(ascending) - 1 - int(share*float64(len(ascending)))
	if i < 0 {
		return 0
	}
	return ascending[i]
}
