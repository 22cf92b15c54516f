package reclaim_test

import (
	"fmt"
	"testing"

	"github.com/oxgang/oxgang/policy/lyra/reclaim"
)

// BenchmarkChoose returns a part of the servers of random placements. Greedy took Lyra 1 to
// 3 ms. Source: Lyra §7.3.
func BenchmarkChoose(b *testing.B) {
	for _, size := range []struct{ servers, jobs, most int }{{60, 46, 4}, {170, 133, 4}, {170, 133, 8}, {500, 390, 4}, {500, 390, 8}} {
		for _, part := range []int{10, 30, 50, 70} {
			for _, rule := range []reclaim.Rule{reclaim.Greedy, reclaim.Exact} {
				b.Run(fmt.Sprintf("servers=%d/workers=%d/n=%d%%/rule=%s", size.servers, size.most, part, rule), func(b *testing.B) {
					benchmark(b, placed(size.servers, size.jobs, size.most, 1), size.servers*part/100, with(rule))
				})
			}
		}
	}
}

// benchmark reports preemptions, what they could be fewer by, and whether all is proven.
func benchmark(b *testing.B, servers []reclaim.Server, n int, o reclaim.Options) {
	var a *reclaim.Answer
	for b.Loop() {
		a = choose(b, servers, n, o)
	}
	b.ReportMetric(float64(len(a.Preempted)), "preempted")
	b.ReportMetric(float64(a.Damage), "damage")
	if o.Rule == reclaim.Exact {
		b.ReportMetric(float64(len(a.Preempted)-a.Bound), "unproven")
	}
}
