//go:build cgo && (linux || darwin) && (amd64 || arm64)

package exact_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bartolsthoorn/gohighs/highs"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/opt/lp"
)

// theirs reads a file with HiGHS' own reader and solves it.
func theirs(t *testing.T, file string) *highs.Solution {
	t.Helper()
	name := filepath.Join(t.TempDir(), "model.mps")
	if err := os.WriteFile(name, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := highs.NewSolver()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.SetBoolOption("output_flag", false); err != nil {
		t.Fatal(err)
	}
	if err := s.SetIntOption("threads", 1); err != nil {
		t.Fatal(err)
	}
	if err := s.ReadModel(name); err != nil {
		t.Fatalf("%v\n%s", err, file)
	}
	out, err := s.Run()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// ours reads and solves it with this package.
func ours(t *testing.T, file string) (out *lp.Solution, objective float64) {
	t.Helper()
	m, err := lp.ReadMPS(strings.NewReader(file), lp.MPSOptions{})
	if err != nil {
		t.Fatalf("%v\n%s", err, file)
	}
	out = solve(t, solver(t, nil), m.Problem)
	if m.Maximize {
		return out, -out.Objective
	}
	return out, out.Objective
}

// TestMPS_means_the_same_to_both reads what is not said everywhere alike: each
// range, bound and default, but for an upper bound below 0 alone: HiGHS keeps the
// lower bound of 0 there, where SAS, for one, has -Inf.
func TestMPS_means_the_same_to_both(t *testing.T) {
	head := "NAME\nROWS\n N obj\n %s row\n L cap\nCOLUMNS\n%s x obj %v row 1\n x cap 1\n%s y obj 1 row 1\n y cap 2\nRHS\n RHS row 3 cap 40\n RHS obj 2.5\n%s"
	for _, kind := range []string{"L", "G", "E"} {
		for _, ranges := range []string{"", "RANGES\n RNG row 2\n", "RANGES\n RNG row -2\n", "RANGES\n RNG row 0\n"} {
			for _, bounds := range []string{"", " UP B x 2\n", " LO B x -4\n UP B x -2\n", " MI B x\n UP B y 0\n", " FX B x 1\n", " FR B x\n LO B y 1.5\n", " LO B x 2\n", " UP B x 7\n", " PL B x\n", " BV B x\n", " LI B x 1\n", " UI B x 1\n", " UI B x 5\n LO B x -5\n"} {
				for _, marks := range [][2]string{{"", ""}, {" M1 'MARKER' 'INTORG'\n", " M2 'MARKER' 'INTEND'\n"}} {
					for _, cost := range []float64{1, -1} {
						file := fmt.Sprintf(head, kind, marks[0], cost, marks[1], ranges)
						if bounds != "" {
							file += "BOUNDS\n" + bounds
						}
						file += "ENDATA\n"
						same(t, file)
					}
				}
			}
		}
	}
}

func same(t *testing.T, file string) {
	t.Helper()
	want := theirs(t, file)
	got, objective := ours(t, file)
	status := map[highs.ModelStatus][]lp.Status{
		highs.ModelStatusOptimal:               {lp.Optimal},
		highs.ModelStatusInfeasible:            {lp.Infeasible},
		highs.ModelStatusUnbounded:             {lp.Unbounded},
		highs.ModelStatusUnboundedOrInfeasible: {lp.Unbounded, lp.Infeasible},
	}[want.Status]
	if !slices.Contains(status, got.Status) {
		t.Fatalf("status %v, theirs %v\n%s", got.Status, want.Status, file)
	}
	if got.Status == lp.Optimal && math.Abs(objective-want.Objective) > 1e-6*(1+math.Abs(want.Objective)) {
		t.Fatalf("objective %v, theirs %v\n%s", objective, want.Objective, file)
	}
}

// TestMPS_written_reads_the_same_elsewhere writes random models for HiGHS.
func TestMPS_written_reads_the_same_elsewhere(t *testing.T) {
	for seed := range 60 {
		r := rng.Stream(uint64(seed), "mps")
		p := &lp.Problem{Offset: float64(r.IntN(5))}
		m := &lp.Model{Problem: p, Maximize: seed%2 == 0}
		var rows []lp.Row
		for range 1 + r.IntN(4) {
			low, up := [][2]float64{{-inf, 6}, {-5, 6}, {1, 8}, {2, 2}, {-20, inf}}[r.IntN(5)][0], 8.0
			row, err := p.AddRow(low, up+float64(r.IntN(3)))
			if err != nil {
				t.Fatal(err)
			}
			rows = append(rows, row)
		}
		for range 1 + r.IntN(6) {
			var entries []lp.RowEntry
			for _, row := range rows {
				entries = append(entries, lp.RowEntry{Row: row, Value: float64(r.IntN(5) - 1)})
			}
			bounds := [][2]float64{{0, 4}, {-3, 4}, {-5, -1}, {2, 2}, {0, inf}, {-inf, 3}}[r.IntN(6)]
			c, err := p.AddCol(float64(r.IntN(9)-4), bounds[0], bounds[1], entries...)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.SetInteger(c, r.IntN(3) == 0); err != nil {
				t.Fatal(err)
			}
		}
		var file strings.Builder
		if err := lp.WriteMPS(&file, m); err != nil {
			t.Fatal(err)
		}
		same(t, file.String())
	}
}
