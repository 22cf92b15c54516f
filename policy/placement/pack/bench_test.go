package pack_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement/pack"
	"github.com/oxgang/oxgang/simulate/placementtest"
)

// BenchmarkPlace places rounds in which one job in fifty ends and others come: of
// single-GPU jobs on 128 GPUs, of the sizes of Philly on 10,000.
func BenchmarkPlace(b *testing.B) {
	for _, size := range []struct{ servers, kind int }{{16, 0}, {16, 1}, {16, 3}, {16, 4}, {1250, 3}, {1250, 4}} {
		for _, overhead := range []time.Duration{0, 30 * time.Second} {
			kind := placementtest.Kinds()[size.kind]
			g := placementtest.NewGenerator(kind, 1)
			g.Overhead = overhead
			s := g.Snapshot(size.servers)
			b.Run(fmt.Sprintf("gpus=%d/jobs=%d/%s/restart=%v", 8*size.servers, len(s.Jobs), kind.Name, overhead), func(b *testing.B) { rounds(b, g, s) })
		}
	}
}

// rounds reports the processor time of a round, too: it says more than the time
// on the wall where others use the machine.
func rounds(b *testing.B, g *placementtest.Generator, s *policy.Snapshot) {
	pl, err := pack.New(pack.DefaultOptions())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	var used time.Duration
	for b.Loop() {
		b.StopTimer()
		p, _ := placementtest.Pooled(s)
		b.StartTimer()
		before := clock()
		if _, err := pl.Place(b.Context(), s, p); err != nil {
			b.Fatal(err)
		}
		used += clock() - before
		b.StopTimer()
		s = g.Next(s, p, 50)
		b.StartTimer()
	}
	b.ReportMetric(float64(used.Nanoseconds())/float64(b.N), "cpu-ns/op")
}
