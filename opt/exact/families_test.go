//go:build cgo && (linux || darwin) && (amd64 || arm64)

package exact_test

import (
	"fmt"
	"testing"

	"github.com/oxgang/oxgang/opt/copter"
	"github.com/oxgang/oxgang/opt/exact"
	"github.com/oxgang/oxgang/opt/lp"
	"github.com/oxgang/oxgang/opt/lp/lptest"
	"github.com/oxgang/oxgang/opt/portfolio"
)

// tolerance is that of the families.
const tolerance = 1e-4

// A way is a solver beside others.
type way struct {
	name string
	make func(tb testing.TB) lp.Solver
}

// byHighs is a method of HiGHS at a tolerance.
func byHighs(method exact.Method, tolerance float64) way {
	return way{fmt.Sprintf("%s-%.0e", method, tolerance), func(tb testing.TB) lp.Solver {
		o := exact.DefaultOptions()
		o.Method, o.Tolerance = method, tolerance
		s, err := exact.New(o)
		if err != nil {
			tb.Fatal(err)
		}
		return s
	}}
}

func chosen(tb testing.TB) lp.Solver {
	s, err := portfolio.New(tolerance)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func alone(tb testing.TB) lp.Solver {
	s, err := copter.New(copter.DefaultOptions())
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// BenchmarkFamilies solves each family by opt/portfolio, by copter alone, and by HiGHS. PDLP is asked for
// less than 1e-4, too: what it calls optimal need not be so by lp.Solution's measure. copter alone
// does not end on two of them.
func BenchmarkFamilies(b *testing.B) {
	ways := []way{
		{"portfolio", chosen},
		{"copter", alone},
		byHighs(exact.Simplex, 1e-4), byHighs(exact.PDLP, 1e-4), byHighs(exact.PDLP, 1e-5), byHighs(exact.PDLP, 1e-6),
	}
	for _, f := range lptest.Families() {
		for _, part := range []int{4, 2, 1} {
			p := f.Build(uint64(part), f.Sizes[1]/part)
			for _, w := range ways {
				if w.name == "copter" && (f.Name == "least-absolute-deviations" || f.Name == "netlib-like") {
					continue
				}
				b.Run(fmt.Sprintf("family=%s/size=%d/by=%s", f.Name, f.Sizes[1]/part, w.name), func(b *testing.B) { measure(b, w, p) })
			}
		}
	}
}

func measure(b *testing.B, w way, p *lp.Problem) {
	var out *lp.Solution
	before := cpu(b)
	for b.Loop() {
		var err error
		if out, err = w.make(b).Solve(b.Context(), p); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric((cpu(b)-before)*1e3/float64(b.N), "cpu-ms/op")
	proven := 0.0
	if lptest.Certify(p, out.X, out.Y, tolerance) == nil {
		proven = 1
	}
	b.ReportMetric(proven, "proven")
}
