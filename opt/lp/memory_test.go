package lp

import (
	"fmt"
	"math"
	"runtime"
	"testing"
)

// TestBytes compares what a problem says it takes, and what was estimated, with
// what the heap has more.
func TestBytes(t *testing.T) {
	for _, c := range []struct{ rows, cols, each int }{
		{1000, 200_000, 1},
		{1000, 200_000, 2},
		{1000, 100_000, 3},
		{1000, 100_000, 5},
		{2000, 20_000, 40},
		{200_000, 200_000, 2},
	} {
		t.Run(fmt.Sprintf("rows=%d,cols=%d,each=%d", c.rows, c.cols, c.each), func(t *testing.T) {
			before := live()
			p := &Problem{}
			var rows []Row
			for range c.rows {
				r, err := p.AddRow(0, 1)
				if err != nil {
					t.Fatal(err)
				}
				rows = append(rows, r)
			}
			entries := make([]RowEntry, c.each)
			for j := range c.cols {
				for k := range entries {
					entries[k] = RowEntry{rows[(j+k*37)%c.rows], 1}
				}
				if _, err := p.AddCol(1, 0, 1, entries...); err != nil {
					t.Fatal(err)
				}
			}
			taken := float64(live() - before)
			for what, said := range map[string]int64{
				"Bytes":         p.Bytes(),
				"EstimateBytes": EstimateBytes(p.Cols(), p.Rows(), p.Nonzeros()),
			} {
				if ratio := float64(said) / taken; math.Abs(ratio-1) > 0.2 {
					t.Errorf("%s %d, the heap has %.0f more: ratio %.2f", what, said, taken, ratio)
				}
			}
			runtime.KeepAlive(p)
		})
	}
}
