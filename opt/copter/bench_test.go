package copter_test

import (
	"fmt"
	"testing"

	"github.com/oxgang/oxgang/opt/copter"
)

// BenchmarkRound solves rounds of jobs with 21 configurations each, of which one
// in a hundred leaves and one arrives.
func BenchmarkRound(b *testing.B) {
	for _, jobs := range []int{1000, 10_000} {
		for _, start := range []string{"cold", "warm"} {
			b.Run(fmt.Sprintf("jobs=%d/start=%s", jobs, start), func(b *testing.B) {
				c := newCluster(b, jobs)
				s := solver(b, 1e-4, func(o *copter.Options) { o.Polish = true })
				solve(b, s, c.p)
				sweeps := 0
				for b.Loop() {
					b.StopTimer()
					for range jobs / 100 {
						c.leave()
						c.arrive()
					}
					if start == "cold" {
						s.Reset()
					}
					b.StartTimer()
					sweeps += solve(b, s, c.p).Sweeps
				}
				b.ReportMetric(float64(sweeps)/float64(b.N), "sweeps/round")
			})
		}
	}
}
