package estimate

import (
	"fmt"
	"testing"

	"github.com/oxgang/oxgang/model/perf"
)

// BenchmarkFit fits the golden profiles of one size, one after the other. A
// warm fit starts at the fit without the newest point.
func BenchmarkFit(b *testing.B) {
	all := readGolden(b)
	for _, points := range []int{1, 2, 4, 8, 14} {
		for _, start := range []string{"cold", "warm"} {
			b.Run(fmt.Sprintf("points=%d/start=%s", points, start), func(b *testing.B) {
				benchmarkFit(b, all, points, start == "warm")
			})
		}
	}
}

func benchmarkFit(b *testing.B, all []golden, points int, warm bool) {
	var f fitter
	var profiles [][]perf.Observation
	var starts []*perf.Params
	for i := range all {
		obs := all[i].observations()
		if len(obs) != points {
			continue
		}
		var start *perf.Params
		if warm {
			p, _ := f.Fit(obs[:max(1, points-1)], nil)
			start = &p
		}
		profiles, starts = append(profiles, obs), append(starts, start)
	}
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		f.Fit(profiles[i], starts[i])
		i = (i + 1) % len(profiles)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "fits/s")
}
