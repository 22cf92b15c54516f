package portfolio_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/opt/exact"
	"github.com/oxgang/oxgang/opt/lp"
	"github.com/oxgang/oxgang/opt/lp/lptest"
	"github.com/oxgang/oxgang/opt/portfolio"
)

const tolerance = 1e-4

func fresh(t interface{ Fatal(args ...any) }, tolerance float64) *portfolio.Solver {
	s, err := portfolio.New(tolerance)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestConformance(t *testing.T) {
	lptest.Run(t, func() lp.Solver { return fresh(t, 1e-8) }, lptest.Exact)
}

// Each family, of any seed and of several sizes, is solved to the tolerance, and x and y prove it.
func TestFamilies(t *testing.T) {
	if !exact.Available {
		t.Skip("copter alone does not solve all of them")
	}
	for _, f := range lptest.Families() {
		t.Run(f.Name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				size := rapid.IntRange(max(f.Sizes[0]/3, 4), f.Sizes[0]).Draw(t, "size")
				p := f.Build(rapid.Uint64().Draw(t, "seed"), size)
				out, err := fresh(t, tolerance).Solve(t.Context(), p)
				if err != nil || out.Status != lp.Optimal {
					t.Fatalf("%v (error %v), want optimal", out.Status, err)
				}
				if err := lptest.Certify(p, out.X, out.Y, tolerance); err != nil {
					t.Fatalf("%s: %v", out.Method, err)
				}
			})
		})
	}
}

// The sizes of the benchmark, each by the member that is said to suit it.
func TestChoose(t *testing.T) {
	if !exact.Available {
		t.Skip(exact.ErrUnavailable)
	}
	want := map[string]string{
		"transport": portfolio.Sifting, "packing": portfolio.InteriorPoint, "multi-commodity": portfolio.Simplex,
		"cover": portfolio.InteriorPoint, "assignment": portfolio.Sifting, "staircase": portfolio.Simplex,
		"least-absolute-deviations": portfolio.InteriorPoint, "netlib-like": portfolio.Simplex,
	}
	for _, f := range lptest.Families() {
		p := f.Build(1, f.Sizes[1])
		out, err := fresh(t, tolerance).Solve(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if out.Method != want[f.Name] {
			t.Errorf("%s: by %s, want %s", f.Name, out.Method, want[f.Name])
		}
		if err := lptest.Certify(p, out.X, out.Y, tolerance); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
}
