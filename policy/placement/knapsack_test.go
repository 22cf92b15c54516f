package placement

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/simulate/placementtest"
)

// tasks returns the cells of jobs of a kind that fill a server.
func tasks(g *placementtest.Generator) (cells [][]Cell, gpus []float64) {
	s := g.Snapshot(1)
	p, _ := placementtest.Pooled(s)
	var m matrices
	m.begin(s.Cluster, len(s.Jobs))
	for i, j := range s.Jobs {
		all, _, _ := m.choices(j, &p.Jobs[i], &s.Cluster.Types()[0], true)
		cells, gpus = append(cells, all), append(gpus, float64(j.GPUs))
	}
	return cells, gpus
}

// load fills a knapsack with the jobs of a server.
func load(k *knapsack, cells [][]Cell, gpus []float64) {
	k.cpus, k.memory, k.items = 24, 500e9, k.items[:0]
	for i := range cells {
		k.add(i, cells[i], gpus[i], 1)
	}
}

// enumerate returns the best value beyond the first cells of all choices.
func enumerate(items []item, cpus, memory float64) float64 {
	if len(items) == 0 {
		return 0
	}
	best := math.Inf(-1)
	for x := range items[0].cells {
		c, m, v := items[0].uses(x)
		if c <= cpus && m <= memory {
			best = max(best, v+enumerate(items[1:], cpus-c, memory-m))
		}
	}
	return best
}

// TestKnapsackAgainstEnumeration: on servers of the paper the search is exact, but
// where it is cut short, which is rare.
func TestKnapsackAgainstEnumeration(t *testing.T) {
	for _, kind := range placementtest.Kinds() {
		g, k, cut := placementtest.NewGenerator(kind, 1), new(knapsack), 0
		rounds := 300
		for range rounds {
			cells, gpus := tasks(g)
			load(k, cells, gpus)
			items, cpus, memory := slices.Clone(k.items), k.cpus, k.memory
			got := k.solve()
			if size(items) <= 200_000 {
				want := enumerate(items, cpus, memory)
				if k.left >= 0 && math.Abs(got-want) > 1e-9 {
					t.Fatalf("%s: value %v, want %v", kind.Name, got, want)
				}
			}
			if k.left < 0 {
				cut++
			}
		}
		if cut*100 > rounds {
			t.Errorf("%s: %d of %d searches were cut short", kind.Name, cut, rounds)
		}
	}
}

func size(items []item) float64 {
	n := 1.0
	for i := range items {
		n *= float64(len(items[i].cells))
	}
	return n
}

// TestKnapsackFits: whatever the cells, what is chosen fits and is what it is
// said to be worth; a search that is not cut short is exact.
func TestKnapsackFits(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		k := &knapsack{cpus: rapid.Float64Range(0, 30).Draw(rt, "CPUs"), memory: rapid.Float64Range(0, 600).Draw(rt, "memory")}
		for i := range rapid.IntRange(0, 6).Draw(rt, "jobs") {
			cells := []Cell{{Value: 1}}
			for range rapid.IntRange(0, 5).Draw(rt, "cells") {
				c := cells[len(cells)-1]
				c.CPUs += rapid.Float64Range(0, 8).Draw(rt, "more CPUs")
				c.Memory += int64(rapid.IntRange(0, 200).Draw(rt, "more memory"))
				c.Value += rapid.Float64Range(0.01, 2).Draw(rt, "more value")
				cells = append(cells, c)
			}
			k.add(i, cells, float64(rapid.IntRange(1, 4).Draw(rt, "GPUs")), 1)
		}
		items, cpus, memory := slices.Clone(k.items), k.cpus, k.memory
		got, value := k.solve(), 0.0
		for i := range k.items {
			c, m, v := k.items[i].uses(k.items[i].pick)
			cpus, memory, value = cpus-c, memory-m, value+v
		}
		if cpus < -1e-9 || memory < -1e-9 || math.Abs(value-got) > 1e-9 {
			rt.Fatalf("left %v CPUs and %v bytes; worth %v, said to be %v", cpus, memory, value, got)
		}
		if want := enumerate(items, k.cpus, k.memory); k.left >= 0 && math.Abs(got-want) > 1e-6 {
			rt.Fatalf("value %v, want %v", got, want)
		}
	})
}

func BenchmarkKnapsack(b *testing.B) {
	for _, kind := range placementtest.Kinds()[:3] {
		b.Run(kind.Name, func(b *testing.B) {
			g, k, at := placementtest.NewGenerator(kind, 1), new(knapsack), 0
			type row struct {
				cells [][]Cell
				gpus  []float64
			}
			var rows []row
			for range 64 {
				cells, gpus := tasks(g)
				rows = append(rows, row{cells, gpus})
			}
			for b.Loop() {
				load(k, rows[at%64].cells, rows[at%64].gpus)
				k.solve()
				at++
			}
		})
	}
}
