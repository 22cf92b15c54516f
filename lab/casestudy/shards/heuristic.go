package shards

import (
	"cmp"
	"context"
	"slices"
)

// Heuristic is a greedy balancer after E-Store. While the load of a server exceeds (1+ε) times the mean, its hottest
// shard that fits moves to the least loaded server. Every shard has one replica, so a single shard above this load
// cannot be balanced. It costs O(D log D + D N) for D shards and N servers. Source: thesis §5.2.1, method (a).
type Heuristic struct{}

// Balance implements Balancer.
func (Heuristic) Balance(_ context.Context, in *Instance) (*Result, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	g := newGreedy(in)
	for {
		i := g.most()
		if i < 0 || g.load[i] <= g.limit {
			return &Result{Assignment: g.assignment()}, nil
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
	n := in.Servers()
	g := &greedy{
		in: in, limit: (1 + in.Epsilon) * in.Mean(), home: make([]int, in.Shards()), on: make([][]int, n),
		load: make([]float64, n), used: make([]float64, n), done: make([]bool, n),
	}
	for j := range g.home {
		g.home[j] = mainHost(in.Now[j])
		if g.home[j] < 0 {
			g.home[j] = g.least()
		}
		i := g.home[j]
		g.on[i] = append(g.on[i], j)
		g.load[i] += in.Loads[j]
		g.used[i] += in.Sizes[j]
	}
	for i := range g.on {
		slices.SortStableFunc(g.on[i], func(a, b int) int { return cmp.Compare(in.Loads[b], in.Loads[a]) })
	}
	return g
}

func mainHost(shares []Share) int {
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
		if to == i || g.load[to]+g.in.Loads[j] > g.limit || g.used[to]+g.in.Sizes[j] > g.in.Memory[to] {
			stay = append(stay, j)
			continue
		}
		g.home[j] = to
		g.load[i] -= g.in.Loads[j]
		g.used[i] -= g.in.Sizes[j]
		g.load[to] += g.in.Loads[j]
		g.used[to] += g.in.Sizes[j]
		g.on[to] = append(g.on[to], j)
	}
	g.on[i] = stay
}

func (g *greedy) assignment() Assignment {
	a := make(Assignment, len(g.home))
	for j, i := range g.home {
		a[j] = []Share{{Server: i, Part: 1}}
	}
	return a
}
