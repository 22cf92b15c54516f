package market_test

import (
	"fmt"
	"testing"
)

func BenchmarkSolve(b *testing.B) {
	for _, buyers := range []int{10, 200} {
		for _, types := range []int{1, 3} {
			b.Run(fmt.Sprintf("buyers=%d/rounds=20/types=%d", buyers, types), func(b *testing.B) {
				m := random(newSource(1), buyers, 20, types)
				steps := 0
				for b.Loop() {
					steps = solve(b, m).Iterations
				}
				b.ReportMetric(float64(steps), "steps")
			})
		}
	}
}
