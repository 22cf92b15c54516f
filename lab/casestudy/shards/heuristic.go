package shards

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/oxgang/oxgang/lab/casestudy"
	"github.com/oxgang/oxgang/opt/copter"
	"github.com/oxgang/oxgang/opt/exact"
	"github.com/oxgang/oxgang/opt/lp"
)

// heuristic is a greedy balancer after E-Store. While the load of a server exceeds (1+ε) times the mean, its hottest
// shard that fits moves to the least loaded server. Every shard has one replica, so a single shard above this load
// cannot be balanced. It costs O(D log D + D N) for D shards and N servers. Source: thesis §5.2.1, method (a).
type heuristic struct{}

// Balance implements Balancer.
func (heuristic) Balance(_ context.Context, in *Instance) (*Result, error) {
	if err := in.validate(); err != nil {
		return nil, err
	}
	g := newGreedy(in)
	for {
		i := g.most()
		if i < 0 || g.load[i] <= g.limit {
			return &Result{assignment: g.assignment()}, nil
		}
		g.relieve(i)
		g.done[i] = true
	}
}

type greedy struct {
	in    *Instance
	limit float64
	home  []int   // by shard
	on    [][]int // by server, hottest first
	load  []float64
	used  []float64 // memory
	done  []bool    // cannot be relieved further
}

func newGreedy(in *Instance) *greedy {
	n := in.servers()
	g := &greedy{
		in: in, limit: (1 + in.epsilon) * in.mean(), home: make([]int, in.shards()), on: make([][]int, n),
		load: make([]float64, n), used: make([]float64, n), done: make([]bool, n),
	}
	for j := range g.home {
		g.home[j] = mainHost(in.now[j])
		if g.home[j] < 0 {
			g.home[j] = g.least()
		}
		i := g.home[j]
		g.on[i] = append(g.on[i], j)
		g.load[i] += in.loads[j]
		g.used[i] += in.sizes[j]
	}
	for i := range g.on {
		slices.SortStableFunc(g.on[i], func(a, b int) int { return cmp.Compare(in.loads[b], in.loads[a]) })
	}
	return g
}

func mainHost(shares []share) int {
	best, part := -1, 0.0
	for _, s := range shares {
		if s.Part > part {
			best, part = s.Server, s.Part
		}
	}
	return best
}

func (g *greedy) most() int {
	best := -1
	for i, l := range g.load {
		if !g.done[i] && (best < 0 || l > g.load[best]) {
			best = i
		}
	}
	return best
}

func (g *greedy) least() int {
	best := 0
	for i, l := range g.load {
		if l < g.load[best] {
			best = i
		}
	}
	return best
}

func (g *greedy) relieve(i int) {
	var stay []int
	for k, j := range g.on[i] {
		if g.load[i] <= g.limit {
			stay = append(stay, g.on[i][k:]...)
			break
		}
		to := g.least()
		if to == i || g.load[to]+g.in.loads[j] > g.limit || g.used[to]+g.in.sizes[j] > g.in.memory[to] {
			stay = append(stay, j)
			continue
		}
		g.home[j] = to
		g.load[i] -= g.in.loads[j]
		g.used[i] -= g.in.sizes[j]
		g.load[to] += g.in.loads[j]
		g.used[to] += g.in.sizes[j]
		g.on[to] = append(g.on[to], j)
	}
	g.on[i] = stay
}

func (g *greedy) assignment() assignment {
	a := make(assignment, len(g.home))
	for j, i := range g.home {
		a[j] = []share{{Server: i, Part: 1}}
	}
	return a
}

// Methods returns the names of the methods. In pop:K, K is a number of parts. Source: thesis §5.2.1, "Evaluated
// approaches".
func Methods() []string {
	return []string{"heuristic", "exact", "lp-relaxed", "pop:K", "copter"}
}

const (
	exactTolerance = 1e-7 // of rows and costs near 1
	exactDust      = 1e-6
	copterDust     = 1e-4 // copter's own tolerance
	popGap         = 0.05 // of the parts, as in POP's benchmark
)

// CheckMethod returns an error if no method has this name.
func CheckMethod(name string) error {
	_, err := NewMethod(name, 0, nil)
	return err
}

// NewMethod returns the balancer called name. seed determines the parts of pop:K. clock, which may be nil, measures the
// time of each part. It returns an error for an unknown name, or exact.ErrUnavailable.
func NewMethod(name string, seed uint64, clock casestudy.Clock) (Balancer, error) {
	switch kind, count, split := strings.Cut(name, ":"); {
	case name == "heuristic":
		return heuristic{}, nil
	case name == "exact":
		return newExactMethod(0)
	case name == "lp-relaxed":
		solver, err := exactSolver(0)
		if err != nil {
			return nil, err
		}
		return newRelaxed(solver, exactDust)
	case name == "copter":
		o := copter.DefaultOptions()
		o.Polish = true
		solver, err := copter.New(o)
		if err != nil {
			return nil, err
		}
		return newRelaxed(solver, copterDust)
	case kind == "pop" && split:
		k, err := strconv.Atoi(count)
		if err != nil || k < 1 {
			return nil, fmt.Errorf("method %q, want pop with a number of parts, as in pop:8", name)
		}
		return newParts(k, seed, clock, func() (Balancer, error) { return newExactMethod(popGap) })
	}
	return nil, fmt.Errorf("method %q, want one of %s", name, strings.Join(Methods(), ", "))
}

func newExactMethod(gap float64) (Balancer, error) {
	solver, err := exactSolver(gap)
	if err != nil {
		return nil, err
	}
	return newExactBalancer(solver), nil
}

func exactSolver(gap float64) (lp.Solver, error) {
	o := exact.DefaultOptions()
	o.Tolerance, o.MIPGap = exactTolerance, gap
	return exact.New(o)
}
