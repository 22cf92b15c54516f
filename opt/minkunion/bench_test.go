package minkunion_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/oxgang/oxgang/opt/exact"
	"github.com/oxgang/oxgang/opt/minkunion"
)

// BenchmarkSolve picks a part of the sets, with elements in up to spread of them; gap is
// what is not proven, of the cost.
func BenchmarkSolve(b *testing.B) {
	for _, size := range []struct{ sets, elements, spread int }{{60, 46, 4}, {170, 133, 4}, {170, 133, 8}, {500, 390, 4}} {
		for _, part := range []int{10, 30, 50, 70} {
			p := scattered(size.sets, size.elements, size.spread, size.sets*part/100, 1)
			b.Run(fmt.Sprintf("sets=%d/spread=%d/pick=%d%%", size.sets, size.spread, part), func(b *testing.B) {
				var s *minkunion.Solution
				for b.Loop() {
					s, _ = minkunion.Solve(p, minkunion.Options{MaxSteps: 400_000})
				}
				b.ReportMetric(100*float64(s.Cost-s.Bound)/float64(max(1, s.Cost)), "%gap")
				b.ReportMetric(float64(s.Nodes), "nodes")
			})
			if exact.Available && size.sets <= 170 && size.spread <= 4 {
				b.Run(fmt.Sprintf("sets=%d/spread=%d/pick=%d%%/by=exact", size.sets, size.spread, part), func(b *testing.B) {
					highs(b, p)
				})
			}
		}
	}
}

// highs solves the integer program of p with a general solver.
func highs(b *testing.B, p *minkunion.Problem) {
	solver, err := exact.New(exact.DefaultOptions())
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := solver.Solve(context.Background(), integer(p)); err != nil {
			b.Fatal(err)
		}
	}
}
