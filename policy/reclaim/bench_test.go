package reclaim_test

import (
	"fmt"
	"testing"

	"github.com/oxgang/oxgang/policy/reclaim"
)

// seeds are how many placements each benchmark goes through.
const seeds = 5

// BenchmarkChoose returns a part of the servers of random placements. Greedy took Lyra 1 to
// 3 ms. Source: Lyra §7.3.
func BenchmarkChoose(b *testing.B) {
	for _, size := range []struct{ servers, jobs, most int }{{60, 46, 4}, {170, 133, 4}, {170, 133, 8}, {500, 390, 4}, {500, 390, 8}} {
		var worlds [seeds][]reclaim.Server
		for seed := range worlds {
			worlds[seed] = placed(size.servers, size.jobs, size.most, uint64(seed))
		}
		for _, part := range []int{10, 30, 50, 70} {
			for _, rule := range []reclaim.Rule{reclaim.Random, reclaim.SCF, reclaim.Greedy, reclaim.Exact} {
				b.Run(fmt.Sprintf("servers=%d/workers=%d/n=%d%%/rule=%s", size.servers, size.most, part, rule), func(b *testing.B) {
					benchmark(b, worlds, size.servers*part/100, with(rule))
				})
			}
		}
	}
}

// benchmark takes the placements in turn, and reports the mean of preemptions, of their
// collateral damage in GPUs, and of what the preemptions could be fewer by.
func benchmark(b *testing.B, worlds [seeds][]reclaim.Server, n int, o reclaim.Options) {
	turn := 0
	for b.Loop() {
		choose(b, worlds[turn%seeds], n, o)
		turn++
	}
	preempted, damage, unproven := 0, 0, 0
	for _, servers := range worlds {
		a := choose(b, servers, n, o)
		preempted, damage = preempted+len(a.Preempted), damage+a.Damage
		unproven += len(a.Preempted) - a.Bound
	}
	b.ReportMetric(float64(preempted)/seeds, "preempted")
	b.ReportMetric(float64(damage)/seeds, "damage")
	if o.Rule == reclaim.Exact {
		b.ReportMetric(float64(unproven)/seeds, "unproven")
	}
}
