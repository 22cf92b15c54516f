package lptest

import (
	"fmt"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/opt/lp"
)

// A Family makes linear programs of one shape. Each has an optimum.
type Family struct {
	Name  string
	Sizes [2]int // Size of a test, and of a benchmark
	build func(m *maker, size int)
}

// Families returns eight shapes of linear programs: those of textbooks of linear
// programming, and one with all that is unpleasant in the programs of netlib.
func Families() []Family {
	return []Family{
		{"transport", [2]int{12, 150}, transports},
		{"packing", [2]int{15, 300}, packing},
		{"multi-commodity", [2]int{8, 60}, multiCommodity},
		{"cover", [2]int{30, 1000}, cover},
		{"assignment", [2]int{15, 200}, assignments},
		{"staircase", [2]int{6, 120}, staircase},
		{"least-absolute-deviations", [2]int{30, 2000}, deviations},
		{"netlib-like", [2]int{30, 500}, mixed},
	}
}

// Build returns the program of a seed. The size is the number of sources, rows,
// nodes, sets, periods or observations, as the family has it. Equal seeds and sizes
// give equal programs.
func (f Family) Build(seed uint64, size int) *lp.Problem {
	m := &maker{source: rng.Stream(seed, "lptest/family/"+f.Name), p: &lp.Problem{}}
	f.build(m, size)
	return m.p
}

// A source of random numbers.
type source interface {
	Float64() float64
	NormFloat64() float64
	IntN(n int) int
}

// A maker adds rows and columns to a program. It panics if it makes one that
// cannot be: then a family is wrong.
type maker struct {
	source

	p *lp.Problem
}

func (m *maker) row(low, up float64) lp.Row { return must(m.p.AddRow(low, up)) }

// rows adds n rows with the same sides.
func (m *maker) rows(n int, low, up float64) []lp.Row {
	all := make([]lp.Row, n)
	for i := range all {
		all[i] = m.row(low, up)
	}
	return all
}

func (m *maker) col(cost, low, up float64, entries ...lp.RowEntry) {
	must(m.p.AddCol(cost, low, up, entries...))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(fmt.Sprintf("lptest: %v", err))
	}
	return v
}

// in returns a number between low and up.
func (m *maker) in(low, up float64) float64 { return low + (up-low)*m.Float64() }

// few returns n of the first total whole numbers, in order of being drawn.
func (m *maker) few(n, total int) []int {
	seen := make(map[int]bool, n)
	var all []int
	for len(all) < min(n, total) {
		if i := m.IntN(total); !seen[i] {
			seen[i] = true
			all = append(all, i)
		}
	}
	return all
}

func at(r lp.Row, v float64) lp.RowEntry { return lp.RowEntry{Row: r, Value: v} }
