package perf_test

import (
	"testing"

	"github.com/oxgang/oxgang/model/perf"
)

// BenchmarkBestBatch runs the golden searches, one after the other.
func BenchmarkBestBatch(b *testing.B) {
	rows := readGolden(b)
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		g := &rows[i]
		perf.BestBatch(&g.model, g.alloc, g.alloc.GPUs, &g.limits)
		i = (i + 1) % len(rows)
	}
}
