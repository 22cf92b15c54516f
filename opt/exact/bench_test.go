//go:build cgo && (linux || darwin) && (amd64 || arm64)

package exact_test

import (
	"fmt"
	"math"
	"syscall"
	"testing"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/opt/exact"
	"github.com/oxgang/oxgang/opt/lp"
)

// round is the relaxation of a round of Sia's shape: jobs that take a share of
// their configurations, whose GPUs come from one of seven types.
func round(tb testing.TB, gpus, jobs int) *lp.Problem {
	const types = 7
	random := rng.Stream(1, fmt.Sprintf("exact/round/%d/%d", gpus, jobs))
	p := &lp.Problem{}
	row := func(up float64) lp.Row {
		r, err := p.AddRow(-inf, up)
		if err != nil {
			tb.Fatal(err)
		}
		return r
	}
	var capacity []lp.Row
	for range types {
		capacity = append(capacity, row(float64(gpus/types)))
	}
	for range jobs {
		once := row(1)
		serial := math.Exp(-5 + 3*random.Float64())
		for k := range types {
			speed := math.Exp(2 * random.Float64())
			for n := 1.0; n <= float64(gpus)/types/4; n = min(2*n, n+8) {
				value := math.Pow(speed*n/(1+serial*(n-1)), -0.5) - 1.1
				if _, err := p.AddCol(value, 0, inf, lp.RowEntry{Row: once, Value: 1}, lp.RowEntry{Row: capacity[k], Value: n}); err != nil {
					tb.Fatal(err)
				}
			}
		}
	}
	return p
}

// cpu returns the seconds of CPU that the process has used.
func cpu(tb testing.TB) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	seconds := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return seconds(u.Utime) + seconds(u.Stime)
}

// BenchmarkSolver measures HiGHS' methods on rounds of Sia's shape.
func BenchmarkSolver(b *testing.B) {
	for _, size := range []struct{ gpus, jobs int }{{64, 20}, {512, 120}, {2048, 300}} {
		for _, method := range []exact.Method{exact.Simplex, exact.InteriorPoint, exact.PDLP} {
			b.Run(fmt.Sprintf("gpus=%d/method=%s", size.gpus, method), func(b *testing.B) {
				s := solver(b, func(o *exact.Options) { o.Method, o.Tolerance = method, 1e-6 })
				p := round(b, size.gpus, size.jobs)
				var out *lp.Solution
				before := cpu(b)
				for b.Loop() {
					out = solve(b, s, p)
				}
				b.ReportMetric((cpu(b)-before)*1e3/float64(b.N), "cpu-ms/op")
				b.ReportMetric(float64(p.Cols()), "columns")
				b.ReportMetric(float64(out.Iterations), "iterations")
				b.ReportMetric(out.Gap, "gap")
			})
		}
	}
}
